"""A check as a page of Markdown: a small table of facts, then its own words."""

from kauditor.model.check import Check, questions_of


def check_page(check: Check) -> str:
    """The page of one check, as `kauditor checks doc` prints it and ``docs/checks`` holds it."""
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
