"""``kauditor diff``."""

import sys
from typing import Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import Sentence, exits

HELP = """What changed between two saved reports: new, worse, better, fixed, no longer seen.

\b
Examples:
  kauditor diff last.json today.json
  kauditor diff last.json today.json -o markdown=changes.md
"""


@exits
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The earlier JSON report.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The later JSON report.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FORMAT[=FILE]", help="text, markdown or json."),
    ] = "text",
    show_all: Annotated[bool, typer.Option("--all", help="List what did not change, too.")] = False,
    quiet: flags.Quiet = False,
) -> int:
    """Compare, and write; no gate here, so it exits 0."""
    from pathlib import Path

    from kauditor.cli.asked import read_report
    from kauditor.cli.outputs import check_writable, write_private
    from kauditor.cli.streams import printable
    from kauditor.compare import compare
    from kauditor.render.comparison import FORMATS, comparison

    form, equals, place = output.partition("=")
    if form not in FORMATS:
        raise Sentence(f"-o {output}: write {', '.join(FORMATS)}.")
    if equals and not place:
        raise Sentence(f"-o {output}: the path is empty; write -o {form}=FILE.")
    path = None if place in ("", "-") else Path(place)
    if path is not None:
        check_writable(path)
    text = comparison(compare(read_report(old), read_report(new)), form, show_all=show_all)
    if path is None:
        sys.stdout.write(printable(text, sys.stdout))
        return 0
    write_private(path, text.encode())
    if not quiet:
        print(f"wrote {path}", file=sys.stderr)
    return 0
