"""The terminal report at every width."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from kauditor.model.report import Report
from kauditor.render import RenderOptions, render
from kauditor.render.terminal import width_of
from tests.unit.render.hostile import filled
from tests.unit.render.reports import REPORTS, large, wall

WIDTHS = (60, 80, 100, 140, 200)


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", REPORTS)
def test_ids_and_limits_are_whole_and_lines_fit(name: str, width: int, ascii: bool) -> None:
    report = REPORTS[name]()
    text = render(report, "text", RenderOptions(width=width, show_all=True, ascii=ascii))
    words = set(text.split())
    for limit in report.limits:
        assert limit.check in words
        if limit.nodes is not None:
            assert f"{limit.nodes:,}" in words
    for step in report.path:
        assert step.check in words and f"{step.before:,}" in words
    for result in report.results:
        if result.state in ("fail", "warn", "unknown", "waived"):
            assert result.check in words
    assert not ascii or text.isascii()
    # A word alone may be wider than the terminal; nothing else is.
    assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines())


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_stand_under_their_heads(width: int) -> None:
    lines = render(wall(), "text", RenderOptions(width=width)).splitlines()
    head = next(line for line in lines if line.startswith("#"))
    rows = lines[lines.index(head) + 1 :][:11]
    for row in rows:
        assert row[head.index("CHECK") - 1] == " " and row[head.index("CHECK")] != " "
        assert row[head.index("CONF") - 1] == " " and row[head.index("CONF")] != " "


def test_wide_characters_keep_the_columns_straight() -> None:
    report = wall()
    limits = (
        msgspec.structs.replace(report.limits[0], title="ポッドのアドレス範囲"),
        *report.limits[1:],
    )
    report = msgspec.structs.replace(report, limits=limits)
    lines = render(report, "text", RenderOptions(width=80)).splitlines()
    ends = {cell_len(line[: line.index("│")]) for line in lines if "│" in line}
    assert len(ends) == 1


def test_colour_changes_nothing_but_colour() -> None:
    for make in REPORTS.values():
        plain = render(make(), "text", RenderOptions(width=80))
        coloured = render(make(), "text", RenderOptions(width=80, color=True))
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
        assert "\x1b" not in plain


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = render(wall(), "text", RenderOptions(width=80, color=True))
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "20"}.items():
        monkeypatch.setenv(name, value)
    assert render(wall(), "text", RenderOptions(width=80, color=True)) == wanted


def test_markup_is_text() -> None:
    text = render(filled(wall(), "[red]x[/red]"), "text", RenderOptions(width=200, color=True))
    assert "[red]x[/red]" in text


def test_a_large_report_stays_short_unless_asked() -> None:
    short = render(large(), "text", RenderOptions())
    assert len(short.splitlines()) < 80
    assert len(render(large(), "text", RenderOptions(show_all=True)).splitlines()) > 200


@settings(deadline=None)
@given(
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40), st.sampled_from(WIDTHS)
)
def test_any_text_renders(text: str, width: int) -> None:
    for options in (RenderOptions(width=width), RenderOptions(width=width, ascii=True)):
        report: Report = filled(wall(), text)
        made = render(report, "text", options)
        assert not options.ascii or made.isascii()


def test_width_of_agrees_with_rich_on_common_text() -> None:
    samples: list[Any] = ["plain", "größe", "ポッド", "e\u0301", "→ ▒ █ · │"]
    assert [width_of(text) for text in samples] == [cell_len(text) for text in samples]
