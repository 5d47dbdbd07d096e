"""Renderers: pure functions of a report and of options. No clock, environment or terminal."""

from collections.abc import Callable

import msgspec

from kauditor.model.report import Report

FORMATS: tuple[str, ...] = ("text", "wide", "score", "name", "json", "html", "markdown")


class RenderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to show a report.

    ``width`` in columns; ``color`` and ``ascii`` for terminals; ``show_all`` leaves nothing folded;
    ``verbose`` adds evidence; ``template_dir`` is searched before the templates that come along.
    """

    width: int = 100
    color: bool = False
    ascii: bool = False
    show_all: bool = False
    verbose: int = 0
    template_dir: str | None = None


class UnknownFormat(ValueError):
    """There is no renderer of that name."""


def render(report: Report, format: str, options: RenderOptions | None = None) -> str:
    """The report in one of `FORMATS`.

    Raises:
        UnknownFormat: no renderer has that name.
    """
    if format not in FORMATS:
        raise UnknownFormat(f"there is no format {format!r}; known: {', '.join(FORMATS)}")
    return _renderer(format)(report, options or RenderOptions())


def gate_line(report: Report) -> str:
    """One line with the gate's outcome, what decided it and the exit status; "" without a gate."""
    from kauditor.render.parts import gate_words

    return gate_words(report)


def _renderer(format: str) -> Callable[[Report, RenderOptions], str]:
    # Each is loaded when asked for: a scan for JSON needs no templates.
    if format in ("text", "wide", "score", "name"):
        from kauditor.render import terminal

        return {
            "text": terminal.text,
            "wide": terminal.wide,
            "score": terminal.score,
            "name": terminal.name,
        }[format]
    if format == "json":
        from kauditor.render.json import json

        return json
    if format == "html":
        from kauditor.render.html import html

        return html
    from kauditor.render.markdown import markdown

    return markdown
