"""``kauditor checks``: list, show, doc, test, new."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kauditor.cli import options as flags
from kauditor.cli.exits import GATE_FAILED, Sentence, exits

if TYPE_CHECKING:
    from kauditor.model.check import Check

app = typer.Typer(
    help="List, explain, test and make checks.", no_args_is_help=True, rich_markup_mode=None
)

Format = Annotated[
    str, typer.Option("--output", "-o", metavar="FORMAT", help="text, json or markdown.")
]
Word = Annotated[str, typer.Argument(metavar="CHECK", help="Id or name of a check.")]


@app.command("list")
@exits
def list_checks(
    only: flags.Only = None,
    skip: flags.Skip = None,
    checks: flags.Checks = None,
    output: Format = "text",
) -> int:
    """All checks, a line each."""
    from kauditor.cli import session

    chosen = session.choose_checks(checks, only, skip)
    rows = [
        {
            "id": one.id,
            "name": one.name,
            "area": one.area.value,
            "severity": one.severity.value,
            "title": one.page.title,
            "pack": one.pack,
        }
        for one in chosen
    ]
    if output == "json":
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
    elif output == "markdown":
        print("| check | name | area | severity | finds |\n| --- | --- | --- | --- | --- |")
        for row in rows:
            print(
                "| "
                + " | ".join(row[key] for key in ("id", "name", "area", "severity", "title"))
                + " |"
            )
    elif output == "text":
        for row in rows:
            print(f"{row['id']:<9} {row['severity']:<9} {row['area']:<14} {row['name']}")
    else:
        raise Sentence(f"-o {output}: write text, json or markdown.")
    return 0


@app.command("show")
@exits
def show(check: Word, checks: flags.Checks = None) -> int:
    """What a check finds, needs and may be told, in short."""
    one = _one(check, checks)
    from kauditor.model.check import questions_of

    print(f"{one.id}  {one.name}\n\n  {one.page.title}\n")
    print(f"  area      {one.area.value}")
    print(f"  severity  {one.severity.value}")
    print(f"  pack      {one.pack}")
    for question in questions_of(one):
        print(f"  reads     {question.grant}")
    for option in one.options:
        print(f"  option    {option.key} = {option.default}")
    for dimension in one.dimensions:
        print(f"  limit     {dimension.title} ({dimension.kind}, class {dimension.basis})")
    for reference in one.references:
        print(f"  source    {reference}")
    print(f"\nWhole page: kauditor checks doc {one.id}")
    return 0


@app.command("doc")
@exits
def doc(check: Word, checks: flags.Checks = None) -> int:
    """The whole page of a check, in Markdown."""
    from kauditor.render.check_page import check_page

    print(check_page(_one(check, checks)), end="")
    return 0


@app.command("test")
@exits
def run_cases(
    checks: flags.Checks = None,
    only: flags.Only = None,
    cases: Annotated[
        str | None,
        typer.Option(
            "--cases", metavar="DIR", help="Folder of cases. [default: tests/cases beside the pack]"
        ),
    ] = None,
) -> int:
    """Run the cases of packs: contract, cases, and each source denied in turn."""
    from kauditor import packs
    from kauditor.cli import session
    from kauditor.testing import (
        breaches,
        load_cases,
        mismatches,
        run,
        unknown_cases,
        wrongly_decided,
    )

    chosen = session.choose_checks(checks, only, None)
    if checks and not only:
        folders = {Path(folder).name for folder in checks}
        chosen = tuple(one for one in chosen if one.pack in folders)
    roots = (
        [Path(cases)] if cases else [Path(folder) / "tests" / "cases" for folder in checks or []]
    )
    roots.append(packs.built_in_folder().parent / "tests" / "cases")
    bad = ran = 0
    for one in chosen:
        problems = breaches(one)
        file = _case_file(one, roots)
        if file is None:
            problems.append(f"{one.id}: it has no cases ({one.name.replace('-', '_')}.toml)")
        for case in load_cases(file) if file else []:
            ran += 1
            problems += [
                f"{one.id}: {case.name}: {line}" for line in mismatches(case, run(one, case))
            ]
            for denied in unknown_cases(one, case):
                problems += [f"{one.id}: {line}" for line in wrongly_decided(one, case, denied)]
        print(f"{'FAIL' if problems else 'ok':<5} {one.id}  {one.name}")
        for problem in problems:
            print(f"      {problem}")
        bad += bool(problems)
    print(f"{len(chosen)} checks, {ran} cases, {bad} with problems")
    return GATE_FAILED if bad else 0


def _case_file(check: "Check", roots: list[Path]) -> Path | None:
    stem = f"{check.name.replace('-', '_')}.toml"
    for root in roots:
        for file in sorted(root.rglob(stem)):
            return file
    return None


CHECK = '''"""{id}: {title}"""

from collections.abc import Iterator

from kauditor.api import Area, Finding, Nodes, Severity, check, fail, ok, seen


@check(
    id="{id}",
    area=Area.{area},
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/setup/best-practices/cluster-large/",),
)
def {name}(nodes: Nodes, *, from_nodes: int = 1000) -> Iterator[Finding]:
    """{title}

    ## Why it breaks
    Say what fails, at which size, and who says so.

    ## Fix
    Say in one sentence what to do.

    ## Verify
    ```shell
    kubectl get nodes
    ```
    """
    evidence = [seen("nodes", nodes.count, nodes)]
    if nodes.count >= from_nodes:
        yield fail(f"There are {{nodes.count:,}} nodes.", evidence=evidence)
    else:
        yield ok(f"There are {{nodes.count:,}} nodes.", evidence=evidence)
'''

CASES = """objects = '''
apiVersion: v1
kind: Node
metadata: {name: "node-{n}"}
'''

[[case]]
name = "a thousand nodes"
repeat = [{ kind = "Node", count = 1000 }]
expect = [{ state = "fail", severity = "medium" }]

[[case]]
name = "one fewer"
repeat = [{ kind = "Node", count = 999 }]
expect = [{ state = "pass" }]
"""


@app.command("new")
@exits
def new(
    name: Annotated[str, typer.Argument(help="What is found, as a noun: single_zone.")],
    id: Annotated[str, typer.Option("--id", help="Id of your pack's own prefix: MYPACK001.")],
    area: Annotated[str, typer.Option("--area", help="Area of the report.")] = "nodes",
    folder: Annotated[
        str, typer.Option("--checks", metavar="DIR", help="Folder of your pack.")
    ] = ".",
) -> int:
    """Make a check and its cases, ready to be filled in; they pass as they are."""
    from kauditor.model.check import FORBIDDEN_STARTS, ID_FORM, Area

    stem = name.replace("-", "_")
    if not stem.isidentifier() or stem.startswith(FORBIDDEN_STARTS):
        raise Sentence(f"{name}: name what is found, as a noun in lower case: single_zone.")
    if not ID_FORM.match(id):
        raise Sentence(f"--id {id}: write capital letters and three digits: MYPACK001.")
    if area not in tuple(Area):
        raise Sentence(f"--area {area}: write one of {', '.join(Area)}.")
    title = stem.replace("_", " ").capitalize() + "."
    made = {
        Path(folder) / f"{stem}.py": CHECK.format(
            id=id, name=stem, title=title, area=Area(area).name
        ),
        Path(folder) / "tests" / "cases" / f"{stem}.toml": CASES,
    }
    for path in made:
        if path.exists():
            raise Sentence(f"{path}: it is there already; nothing was written.")
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        print(f"wrote {path}", file=sys.stderr)
    print(f"now: kauditor checks test --checks {folder} --only {id}", file=sys.stderr)
    return 0


def _one(word: str, folders: list[str] | None) -> "Check":
    from kauditor.cli import session

    found = session.choose_checks(folders, [word], None)
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise Sentence(f"{word} names several checks: {ids}; choose one.")
    return found[0]
