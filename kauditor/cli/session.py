"""What scan and collect do alike: settings, checks, connection, progress."""

import datetime
import os
import sys
from pathlib import Path
from typing import Any

from kauditor.cli.exits import NOT_SCANNED, Sentence
from kauditor.cli.streams import wants_color
from kauditor.model.check import Check
from kauditor.settings import BadSettings, Loaded

# Parameters of scan and collect that say how to reach the cluster.
CONNECTION = frozenset(
    """
    kubeconfig context cluster user namespace server as_user as_groups as_uid as_user_extra
    request_timeout insecure_skip_tls_verify certificate_authority client_certificate client_key
    tls_server_name token disable_compression timeout qps burst max_inflight gentle
    """.split()
)


def now() -> str:
    """This moment as RFC 3339 in UTC, in whole seconds."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def load_settings(config: str | None) -> Loaded:
    """The settings that apply: --config, KAUDITOR_CONFIG or the project's file; the user's beneath.

    Raises:
        Sentence: a file or a variable can't be used, or a waiver reaches too far ahead.
    """
    from kauditor import settings
    from kauditor.model.waiver import LONGEST_DAYS
    from kauditor.waive import Term, term_of

    named = config or os.environ.get("KAUDITOR_CONFIG")
    try:
        loaded = settings.load(
            Path(named) if named else settings.find(Path.cwd()),
            user_file=settings.find_user(os.environ),
            environment=os.environ,
        )
    except BadSettings as error:
        raise Sentence(str(error)) from error
    # Held to the clock here, at the door: behind it a replay knows only the day of its snapshot.
    today = datetime.date.fromisoformat(now()[:10])
    for number, waiver in enumerate(loaded.settings.waiver):
        if term_of(waiver, today) is Term.TOO_FAR:
            latest = today + datetime.timedelta(days=LONGEST_DAYS)
            raise Sentence(
                f"{loaded.origins[f'waiver[{number}]']}: the waiver of {waiver.title} is until "
                f"{waiver.until}; at most {LONGEST_DAYS} days ahead are allowed, so {latest}."
            )
    return loaded


def choose_checks(
    folders: list[str] | None, only: list[str] | None, skip: list[str] | None
) -> tuple[Check, ...]:
    """The checks to run.

    Raises:
        Sentence: a pack can't be loaded, a word names no check, or none is left.
    """
    from kauditor import packs

    try:
        every = packs.load([Path(folder) for folder in folders or []])
        chosen = packs.choose(every, only or [], skip or [])
    except packs.BadPack as error:
        raise Sentence(str(error)) from error
    if not chosen:
        raise Sentence("--only and --skip leave no check to run.")
    return tuple(chosen)


def open_cluster(options: dict[str, Any]) -> Any:
    """Connect; proves by one request that the server answers.

    Raises:
        Sentence: exit 2 for what the kubeconfig gets wrong, 3 for what the server does.
    """
    from kauditor import __version__
    from kauditor.sources.live.connection import ConnectError, ConnectOptions, connect
    from kauditor.sources.live.kubeconfig import BadKubeconfig

    try:
        return connect(ConnectOptions(user_agent=f"kauditor/{__version__}", **options))
    except BadKubeconfig as error:
        raise Sentence(str(error)) from error
    except ConnectError as error:
        raise Sentence(str(error), NOT_SCANNED) from error


def show_log(verbose: int, file: str | None = None) -> None:
    """-v shows what the tool says of itself, -vv every request; ``file`` takes all of it.

    Raises:
        Sentence: the file can't be written.
    """
    if not verbose and not file:
        return
    import logging

    log = logging.getLogger("kauditor")
    log.setLevel(logging.DEBUG)
    shape = logging.Formatter("%(asctime)s %(levelname).1s %(message)s")
    handlers: list[logging.Handler] = []
    if verbose:
        stream = logging.StreamHandler(sys.stderr)
        stream.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
        handlers.append(stream)
    if file:
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as error:
            raise Sentence(f"--debug {file}: {error.strerror or error}.") from error
        os.fchmod(handle, 0o600)
        handlers.append(logging.StreamHandler(os.fdopen(handle, "w", encoding="utf-8")))
    for handler in handlers:
        handler.setFormatter(shape)
        log.addHandler(handler)


def make_progress(quiet: bool, color: str) -> Any:
    """A live line on a terminal, plain lines elsewhere, null when quiet."""
    from kauditor.cli.progress import LiveProgress, PlainProgress

    if quiet:
        return None
    if sys.stderr.isatty():
        return LiveProgress(sys.stderr, wants_color(sys.stderr, color))
    return PlainProgress(sys.stderr)


def connection_options(given: dict[str, Any]) -> dict[str, Any]:
    """Flags as `ConnectOptions` wants them.

    Raises:
        Sentence: a time or a pair can't be read.
    """
    from kauditor.cli.options import seconds

    made = dict(given)
    try:
        for name in ("request_timeout", "timeout"):
            made[name] = seconds(made[name], "--" + name.replace("_", "-"))
    except ValueError as error:
        raise Sentence(f"{error}.") from error
    if given["request_timeout"] is None:
        made["request_timeout"] = 65.0
    extras: dict[str, list[str]] = {}
    for pair in given["as_user_extra"] or []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise Sentence(f"--as-user-extra {pair}: write KEY=VALUE.")
        extras.setdefault(key, []).append(value)
    made["as_user_extra"] = {key: tuple(values) for key, values in extras.items()}
    made["as_groups"] = tuple(given["as_groups"] or ())
    return made
