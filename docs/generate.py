"""Writes the pages that come from the code: one for each check, and the report's JSON Schema.

``make docs`` writes them; a test compares them with the code.
"""

import json
from pathlib import Path

import msgspec

from kauditor import packs
from kauditor.model.report import Report
from kauditor.render.check_page import check_page

DOCS = Path(__file__).resolve().parent


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
