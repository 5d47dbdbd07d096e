"""``kauditor waivers``."""

import sys
from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import GATE_FAILED, Sentence, exits

app = typer.Typer(
    help="What the settings accept, and until when.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def waivers() -> None:
    """Keeps `check` a command of its own, although it is the only one."""


@app.command("check")
@exits
def check(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[REPORT]", help="A JSON report: finds waivers that match nothing in it."
        ),
    ] = None,
    config: flags.Config = None,
    checks: flags.Checks = None,
) -> int:
    """Expired, soon expiring, matching nothing. Exits 1 if one has ended or does nothing."""
    import datetime
    from pathlib import Path

    from kauditor import packs
    from kauditor import scan as corridor
    from kauditor.cli import session
    from kauditor.cli.asked import read_report
    from kauditor.cli.streams import printable
    from kauditor.model.clean import clean
    from kauditor.settings import BadSettings
    from kauditor.waive import Term, for_cluster, standings

    loaded = session.load_settings(config)
    settings = loaded.settings
    try:
        corridor.check_names(packs.load([Path(folder) for folder in checks or []]), settings)
    except (BadSettings, packs.BadPack) as error:
        raise Sentence(f"{loaded.file or loaded.user_file}: {error}") from error
    today = datetime.date.fromisoformat(session.now()[:10])
    found = standings((), settings.waiver, today)
    if file is not None:
        cluster = read_report(file).cluster
        context = cluster.context or cluster.name
        names = (cluster.context, cluster.name, settings.name_of(context))
        mine = for_cluster(settings.waiver, names)
        found = standings(read_report(file).results, mine, today)
    bad = soon = 0
    for one in found:
        ended, idle = one.term is Term.ENDED, one.idle
        bad += ended or idle
        soon += one.term is Term.ENDS_SOON
        words = [f"{one.term} {'on' if ended else 'until'} {one.waiver.until}"]
        if idle:
            words.append("was not seen" if one.unseen else "matches nothing")
        elif one.accepted:
            words.append(f"{one.accepted:,} accepted")
        mark = "!" if ended or idle else " "
        line = clean(f"{mark} {one.waiver.title}: {', '.join(words)}; {one.waiver.reason}")
        sys.stdout.write(printable(line + "\n", sys.stdout))
    print(f"{len(found):,} waivers, {soon:,} end soon, {bad:,} ended or without use.")
    return GATE_FAILED if bad else 0
