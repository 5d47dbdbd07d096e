"""``kauditor config``: init, show, validate, schema."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import Sentence, exits

if TYPE_CHECKING:
    from kauditor.settings import Value

app = typer.Typer(
    help="Make, show and check kauditor.toml.", no_args_is_help=True, rich_markup_mode=None
)

START = """\
# Settings of kauditor. Every key: kauditor config schema; what applies: kauditor config show.

# What a scan of any cluster is held to; it exits 1 when one fails.
[gate]
# min-limit = 3000            # the first limit, in nodes
# min-score = 70
# fail-on = "critical"        # critical, high, medium, low, info
# min-coverage = 80           # percent; under it a gate that holds is undecided (exit 4)
# fail-on-worse = true        # than the baseline
# baseline = "baseline.json"  # relative to this file; kauditor scan -o json=baseline.json

# [gate.min-area-score]
# network = 70

# One table a cluster, named as you like; context is kubectl's.
# [cluster."prod-eu-1"]
# context = "prod-eu-1"
# target-nodes = 5000
# [cluster."prod-eu-1".gate]
# min-limit = 5000

# What no API shows.
# [facts.cloud]
# instance-quota = 2000

# Options of checks: kauditor checks show ID
# [checks.SCHED001]
# warn-from-nodes = 50

# Findings that somebody accepts until a day, at most 365 days ahead.
# [[waiver]]
# check = "STOR006"
# subject = "*"
# until = 2027-03-31
# reason = "The snapshot service moves in Q1"
# owner = "storage@example.com"
"""


@app.command("init")
@exits
def init(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to write.")] = "kauditor.toml",
) -> int:
    """Write a settings file to begin with; never over one that is there."""
    path = Path(file)
    try:
        with open(path, "x", encoding="utf-8") as out:
            out.write(START)
    except FileExistsError as error:
        raise Sentence(f"{file}: it is there already; remove it first, or name another.") from error
    except (OSError, ValueError) as error:
        raise Sentence(f"{file}: {getattr(error, 'strerror', None) or error}.") from error
    print(f"wrote {file}", file=sys.stderr)
    return 0


@app.command("show")
@exits
def show(
    context: Annotated[
        str | None,
        typer.Option(
            "--context", metavar="NAME", help="As it applies to this cluster: context or name."
        ),
    ] = None,
    target_nodes: flags.TargetNodes = None,
    min_limit: flags.MinLimit = None,
    min_score: flags.MinScore = None,
    min_area_score: flags.MinAreaScore = None,
    fail_on: flags.FailOn = None,
    min_coverage: flags.MinCoverage = None,
    fail_on_new: flags.FailOnNew = False,
    fail_on_worse: flags.FailOnWorse = False,
    baseline: flags.Baseline = None,
    config: flags.Config = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help="text or json.")
    ] = "text",
) -> int:
    """Every setting as it applies, and where it is from."""
    import msgspec

    from kauditor.cli import asked, session
    from kauditor.cli.streams import printable
    from kauditor.model.clean import clean
    from kauditor.settings import resolve

    words = locals()
    if output not in ("text", "json"):
        raise Sentence(f"-o {output}: write text or json.")
    loaded = session.load_settings(config)
    values = resolve(loaded, context or "", asked.flags_given(words))
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(values), indent=2).decode())
        return 0
    for file in (loaded.file, loaded.user_file):
        if file is not None:
            sys.stdout.write(printable(f"# {file}\n", sys.stdout))
    wide = max(len(_left(one)) for one in values)
    for one in values:
        line = clean(f"{_left(one):<{wide}}  # {one.origin}")
        sys.stdout.write(printable(line + "\n", sys.stdout))
    return 0


@app.command("validate")
@exits
def validate(config: flags.Config = None, checks: flags.Checks = None) -> int:
    """Is the settings file right, down to the names and options of checks? Exits 2 if not."""
    from kauditor import packs
    from kauditor import scan as corridor
    from kauditor.cli import session
    from kauditor.settings import BadSettings

    loaded = session.load_settings(config)
    if loaded.file is None and loaded.user_file is None:
        raise Sentence("there is no settings file here or above; kauditor config init makes one.")
    try:
        every = packs.load([Path(folder) for folder in checks or []])
        corridor.check_names(every, loaded.settings)
        corridor.options_of(every, loaded.settings)
    except (BadSettings, packs.BadPack) as error:
        raise Sentence(f"{loaded.file or loaded.user_file}: {error}") from error
    for file in (loaded.file, loaded.user_file):
        if file is not None:
            print(f"{file}: fine")
    return 0


@app.command("schema")
@exits
def schema() -> int:
    """The JSON Schema of kauditor.toml, for editors."""
    import json

    from kauditor.settings import schema

    print(json.dumps(schema(), indent=2))
    return 0


def _left(one: "Value") -> str:
    return f"{one.key} = {_toml(one.value)}"


def _toml(value: Any) -> str:
    """A value as it would be written; in one line."""
    import json

    import msgspec

    plain = msgspec.to_builtins(value)
    if plain is None:
        return "(not set)"
    if isinstance(plain, dict):
        pairs = (f"{key} = {_toml(one)}" for key, one in plain.items() if one != "")
        return "{ " + ", ".join(pairs) + " }"
    return json.dumps(plain, ensure_ascii=False)
