"""``kauditor gate``."""

import sys
from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import Sentence, exits

HELP = """Hold a saved report to a gate: the same conditions as scan, for a later step of CI.

The waivers of the settings are applied on top of those of the scan, as of the day the cluster was
read. Without any condition there is nothing to decide, which is an error here.

\b
Examples:
  kauditor gate report.json --min-limit 3000 --min-score 70
  kauditor gate report.json --baseline last.json --fail-on-new --fail-on-worse
"""


@exits
def gate(
    file: Annotated[str, typer.Argument(metavar="REPORT", help="A report of -o json=FILE.")],
    min_limit: flags.MinLimit = None,
    min_score: flags.MinScore = None,
    min_area_score: flags.MinAreaScore = None,
    fail_on: flags.FailOn = None,
    min_coverage: flags.MinCoverage = None,
    fail_on_new: flags.FailOnNew = False,
    fail_on_worse: flags.FailOnWorse = False,
    baseline: flags.Baseline = None,
    exit_zero: flags.ExitZero = False,
    no_waivers: flags.NoWaivers = False,
    config: flags.Config = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FORMAT", help="text or json.")
    ] = "text",
    quiet: flags.Quiet = False,
) -> int:
    """Decide, say each condition, and give the gate's exit status."""
    import msgspec

    from kauditor import scan as corridor
    from kauditor.cli import asked, session
    from kauditor.cli.streams import printable
    from kauditor.render import gate_line
    from kauditor.settings import BadSettings, GateSettings

    words = locals()
    if output not in ("text", "json"):
        raise Sentence(f"-o {output}: write text or json.")
    loaded = session.load_settings(config)
    asks = asked.asked(words, loaded)
    saved = asked.read_report(file)
    context = saved.cluster.context or saved.cluster.name
    known, note = asked.baseline_of(asks, loaded, context)
    try:
        made, comparison, notes = corridor.judge_again(
            saved,
            loaded.settings,
            corridor.policy_of(asks.gate or GateSettings(), exit_zero=exit_zero),
            baseline=known,
            waivers=not no_waivers,
        )
    except BadSettings as error:
        raise Sentence(f"{file}: {error}") from error
    if not made.conditions:
        raise Sentence("there is no condition to decide: give --min-limit N or another one.")
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
    else:
        for one in made.conditions:
            line = f"{one.outcome:<10} {one.name:<24} {one.sentence}\n"
            sys.stdout.write(printable(line, sys.stdout))
    if not quiet:
        for line in (*notes, *([note] if note else [])):
            print(f"kauditor: {line}", file=sys.stderr)
        sys.stdout.flush()
        shown = msgspec.structs.replace(saved, gate=made, comparison=comparison)
        print(gate_line(shown), file=sys.stderr)
    return made.exit
