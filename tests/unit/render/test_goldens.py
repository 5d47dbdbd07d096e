"""Whole renderings of four reports, kept as plain files."""

from pathlib import Path

import pytest

from kauditor.render import RenderOptions, gate_line, render
from tests.unit.render.reports import REPORTS

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "render"
CASES = {
    "60.txt": ("text", RenderOptions(width=60)),
    "80.txt": ("text", RenderOptions(width=80)),
    "80-ascii.txt": ("text", RenderOptions(width=80, ascii=True)),
    "80-color.txt": ("text", RenderOptions(width=80, color=True)),
    "140.txt": ("text", RenderOptions(width=140)),
    "all.txt": ("text", RenderOptions(width=100, show_all=True, verbose=1)),
    "wide.txt": ("wide", RenderOptions(width=80)),
    "json": ("json", RenderOptions()),
    "md": ("markdown", RenderOptions()),
    "html": ("html", RenderOptions()),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", REPORTS)
def test_rendering_is_what_was_agreed(name: str, case: str, update_golden: bool) -> None:
    format, options = CASES[case]
    made = render(REPORTS[name](), format, options)
    file = GOLDEN / f"{name}-{case}" if case.endswith(".txt") else GOLDEN / f"{name}.{case}"
    if update_golden:
        file.write_text(made, encoding="utf-8", newline="\n")
    assert made == file.read_text(encoding="utf-8")


def test_short_formats() -> None:
    scores = {name: render(make(), "score") for name, make in REPORTS.items()}
    assert scores == {"healthy": "100\n", "wall": "51\n", "managed": "74\n", "forbidden": "none\n"}
    assert render(REPORTS["managed"](), "name") == "NET006\n"
    assert render(REPORTS["healthy"](), "name") == ""


def test_gate_line_says_what_decided() -> None:
    assert gate_line(REPORTS["wall"]()) == (
        "GATE FAILED  score 51 is under 70, 2 failed at critical or worse, allows 0  exit 1"
    )
    assert gate_line(REPORTS["managed"]()) == "GATE UNDECIDED  coverage 52 % is under 80 %  exit 4"
    assert gate_line(REPORTS["healthy"]()) == "GATE PASSED  score 100 is at least 70  exit 0"
    assert gate_line(REPORTS["forbidden"]()) == ""
