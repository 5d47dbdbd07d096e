"""JSON: the report as it is. Its form is the public contract."""

import msgspec

from kauditor.model.report import Report
from kauditor.render import RenderOptions


def json(report: Report, options: RenderOptions) -> str:
    """Indented by two, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode("utf-8") + "\n"
