"""``kauditor report``."""

import sys
from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import Sentence, exits

HELP = """Show a saved report again, in any format, without a cluster.

\b
Examples:
  kauditor report report.json
  kauditor report report.json -o html=report.html -o markdown
"""


@exits
def report(
    file: Annotated[str, typer.Argument(metavar="REPORT", help="A report of -o json=FILE.")],
    output: flags.Outputs = None,
    show_all: flags.ShowAll = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = 0,
    color: flags.Color = "auto",
    ascii_only: flags.Ascii = False,
) -> int:
    """Read and render; what the report says of its gate is shown and decides nothing."""
    from kauditor.cli.asked import read_report
    from kauditor.cli.outputs import parse_outputs, write_outputs
    from kauditor.cli.streams import COLORS, needs_ascii, wants_color, width_of
    from kauditor.render import RenderOptions

    if color not in COLORS:
        raise Sentence(f"--color {color}: write {', '.join(COLORS)}.")
    outputs = parse_outputs(output or [])
    saved = read_report(file)
    write_outputs(
        saved,
        outputs,
        RenderOptions(
            width=width_of(sys.stdout),
            color=wants_color(sys.stdout, color),
            ascii=ascii_only or needs_ascii(sys.stdout),
            show_all=show_all,
            verbose=verbose,
        ),
        sys.stdout,
    )
    if not quiet:
        for one in outputs:
            if one.path is not None:
                print(f"wrote {one.path}", file=sys.stderr)
    return 0
