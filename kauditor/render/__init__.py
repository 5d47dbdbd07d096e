"""Renderers: pure functions of a report and of options. No clock, environment or terminal."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

import msgspec

from kauditor.model.report import Report


class RenderOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to show a report.

    ``width`` in columns; ``color`` and ``ascii`` for terminals; ``show_all`` leaves nothing folded;
    ``quiet`` leaves out hints at other commands; ``verbose`` adds evidence; ``template_dir`` is
    searched before the templates that come along.
    """

    width: int = 100
    color: bool = False
    ascii: bool = False
    show_all: bool = False
    quiet: bool = False
    verbose: int = 0
    template_dir: str | None = None


Renderer = Callable[[Report, RenderOptions], str]


def _late(module: str, function: str) -> Renderer:
    """The renderer, its module loaded at the first call: a scan for JSON needs no templates."""

    def renderer(report: Report, options: RenderOptions) -> str:
        made: str = getattr(import_module(f"kauditor.render.{module}"), function)(report, options)
        return made

    return renderer


FORMATS: Mapping[str, Renderer] = MappingProxyType(
    {
        "text": _late("terminal", "text"),
        "wide": _late("terminal", "wide"),
        "score": _late("terminal", "score"),
        "name": _late("terminal", "name"),
        "json": _late("json", "json"),
        "html": _late("html", "html"),
        "markdown": _late("markdown", "markdown"),
    }
)


class UnknownFormat(ValueError):
    """There is no renderer of that name."""


def render(report: Report, format: str, options: RenderOptions | None = None) -> str:
    """The report in one of `FORMATS`.

    Raises:
        UnknownFormat: no renderer has that name.
    """
    if format not in FORMATS:
        raise UnknownFormat(f"there is no format {format!r}; known: {', '.join(FORMATS)}")
    return FORMATS[format](report, options or RenderOptions())


def gate_line(report: Report) -> str:
    """One line with the gate's outcome, what decided it and the exit status; "" without a gate."""
    from kauditor.render.parts import gate_words

    return gate_words(report)
