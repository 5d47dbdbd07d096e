"""Writes the pages that come from the code: one for each check, and the report's JSON Schema.

``make docs`` writes them; a test compares them with the code.
"""

import json
from pathlib import Path

import msgspec

from kauditor import packs
from kauditor.model.check import Check
from kauditor.model.report import Report
from kauditor.testing import questions_of

DOCS = Path(__file__).resolve().parent


def check_page(check: Check) -> str:
    """One check as Markdown: a small table of facts, then its own words."""
    needs = ", ".join(f"`{question.grant}`" for question in questions_of(check))
    dimensions = ", ".join(
        f"{one.title} ({one.kind}, class {one.basis})" for one in check.dimensions
    )
    options = ", ".join(f"`{one.key}` = {one.default}" for one in check.options)
    rows = [
        ("Name", f"`{check.name}`"),
        ("Area", check.area.value),
        ("Severity", check.severity.value + (", computed for limits" if dimensions else "")),
        ("Since", check.since),
        ("Dimensions", dimensions or "none"),
        ("Options", options or "none"),
        ("Rights", needs),
    ]
    table = "\n".join(f"| {key} | {value} |" for key, value in rows)
    references = "\n".join(f"- <{reference}>" for reference in check.references)
    return (
        f"# {check.id}: {check.name}\n\n{check.page.title}\n\n| | |\n| --- | --- |\n{table}\n\n"
        f"## Why it breaks\n\n{check.page.why}\n\n## Fix\n\n{check.page.fix}\n\n"
        f"## Verify\n\n{check.page.verify}\n\n## Sources\n\n{references}\n"
    )


def pages() -> dict[Path, str]:
    """Every generated page by its path."""
    checks = packs.load(installed=False)
    made = {DOCS / "checks" / f"{check.id}.md": check_page(check) for check in checks}
    schema = json.dumps(msgspec.json.schema(Report), indent=2) + "\n"
    made[DOCS / "report-schema.json"] = schema
    return made


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"wrote {len(pages())} pages")
