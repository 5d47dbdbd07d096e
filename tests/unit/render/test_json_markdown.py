"""JSON comes back as it went; Markdown shows text as text."""

import html
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kauditor.model.report import Report
from kauditor.render import RenderOptions, UnknownFormat, render
from kauditor.render.markdown import LONGEST, escape
from tests.unit.render.hostile import filled
from tests.unit.render.reports import REPORTS, wall


@pytest.mark.parametrize("name", REPORTS)
def test_json_round_trip(name: str) -> None:
    report = REPORTS[name]()
    text = render(report, "json")
    assert msgspec.json.decode(text, type=Report) == report
    assert text.startswith('{\n  "schema": "kauditor.report/v1",') and text.endswith("}\n")


def test_unknown_format_is_named() -> None:
    with pytest.raises(UnknownFormat, match="'pdf'"):
        render(wall(), "pdf", RenderOptions())


TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=60)


@settings(deadline=None)
@given(TEXT)
def test_escaped_text_comes_back_unchanged(text: str) -> None:
    line = " ".join(text.split())
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a |\n| --- |\n| x{escape(text)} |")
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 2
    shown = "".join(
        child.content for child in cells[1].children or () if child.type in ("text", "text_special")
    )
    # The gap after @ and # keeps GitHub from calling somebody; it takes no room.
    assert shown.replace("\u200b", "") == f"x{line}".rstrip().replace("\u200b", "")


@pytest.mark.parametrize(
    "text",
    ["@team", "a|b", "`x`", "<img src=x>", "::stop-commands::x", "##[error]x", "# x", "- x", "1. x",
     "[a](https://x)", "a\n\nb", "![a](b)", "#12", ":smile:", "https://x.example"],
)  # fmt: skip
def test_nothing_is_left_that_means_something(text: str) -> None:
    escaped = escape(text)
    assert not set(escaped.replace("&#", "")) & set("<>|`@[]*\n")
    assert "::" not in escaped and "://" not in escaped and ":smile" not in escaped
    assert MarkdownIt("commonmark").render(escaped).count("<") == 2


@pytest.mark.parametrize("text", ["@team", "ask @team", "(#12)", "#12"])
def test_nobody_is_called_and_nothing_referred_to(text: str) -> None:
    # GitHub reads entities first and then looks for these in the text.
    assert re.search(r"(?<!\w)[@#]\w", html.unescape(escape(text))) is None


def test_hostile_text_adds_no_rows_and_no_tags() -> None:
    hostile = "|<b>@all`\n\n::error::x"
    assert render(filled(wall(), hostile), "markdown").count("\n") == render(
        filled(wall(), "harmless"), "markdown"
    ).count("\n")
    text = render(filled(wall(), hostile), "markdown")
    assert "<" not in text and "@" not in text and "::" not in text


def test_a_long_report_is_cut_and_says_so() -> None:
    report = wall()
    report = msgspec.structs.replace(report, results=report.results * 700)
    text = render(report, "markdown")
    assert len(text.encode()) <= LONGEST
    assert "The rest was cut off here" in text.splitlines()[-1]
