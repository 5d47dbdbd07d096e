"""Which exit status outweighs which, as a table and as runs."""

import html
import re
from pathlib import Path

import msgspec
import pytest

from kauditor.cli.exits import PRECEDENCE, foremost
from tests.unit.cli.invoke import Shell


def test_the_order_is_that_of_the_design() -> None:
    assert PRECEDENCE == (130, 5, 3, 2, 1, 4, 0)


@pytest.mark.parametrize(
    ("true", "status"),
    [
        ((), 0),
        ((0,), 0),
        ((0, 4), 4),
        ((4, 0), 4),
        ((4, 1), 1),
        ((1, 4, 0), 1),
        ((1, 2), 2),
        ((4, 2, 1), 2),
        ((2, 3), 3),
        ((1, 3, 4), 3),
        ((3, 5), 5),
        ((0, 4, 1, 2, 3, 5), 5),
        ((5, 130), 130),
    ],
)
def test_of_all_that_is_true_the_weightiest_is_told(true: tuple[int, ...], status: int) -> None:
    assert foremost(*true) == status


FAILS, UNSURE, HOLDS = ("--min-score", "99"), ("--min-coverage", "100"), ("--min-score", "0")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (HOLDS, 0),
        ((*HOLDS, *UNSURE), 4),
        ((*FAILS, *UNSURE), 1),
        ((*FAILS, *UNSURE, "--exit-zero"), 0),
        ((*UNSURE, "--exit-zero"), 0),
        ((*FAILS, "-o", "pdf"), 2),
        ((*FAILS, "--exit-zero", "-o", "pdf"), 2),
        ((*FAILS, "--exit-zero", "--from", "missing.json"), 2),
    ],
)
def test_a_scan_exits_by_the_same_order(shell: Shell, words: tuple[str, ...], status: int) -> None:
    given = words if "--from" in words else ("--demo", *words)
    assert shell("scan", *given) == status, shell.err


def test_a_report_that_could_not_be_written_outweighs_a_failed_gate(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kauditor.cli import outputs
    from kauditor.cli.exits import Sentence

    def full(path: Path, content: bytes) -> None:
        raise Sentence(f"{path}: it could not be written: No space left on device.")

    monkeypatch.setattr(outputs, "write_private", full)
    assert shell("scan", "--demo", *FAILS, "-o", "json=r.json") == 2
    assert "No space left" in shell.err
    assert "GATE FAILED" in shell.err
    assert "wrote" not in shell.err


def test_a_bug_outweighs_all(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kauditor import gate

    def broken(*words: object) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(gate, "decide", broken)
    assert shell("scan", "--demo", *FAILS) == 5
    assert "bug in kauditor" in shell.err


def test_what_is_hidden_from_display_still_counts(shell: Shell) -> None:
    assert shell("scan", "--demo", "--fail-on", "critical", "-q", "-o", "score") == 1
    assert shell("scan", "--demo", "--fail-on", "critical", "--all") == 1


ALL_CONDITIONS = (
    "--min-limit", "1", "--min-score", "99", "--min-area-score", "etcd=1", "--fail-on", "critical",
    "--min-coverage", "100", "--fail-on-new", "--fail-on-worse",
)  # fmt: skip


@pytest.mark.parametrize("form", ["text", "wide", "markdown", "html", "json"])
def test_every_format_tells_every_condition_with_value_and_bound(shell: Shell, form: str) -> None:
    assert shell("scan", "--demo", "-q", "-o", "json=base.json") == 0
    words = ("scan", "--demo", "--baseline", "base.json", *ALL_CONDITIONS)
    assert shell(*words, "-o", form, "-o", "json=r.json") == 1
    told = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shell.out)).split())
    saved = msgspec.json.decode((shell.folder / "r.json").read_bytes())
    assert len(saved["gate"]["conditions"]) == 7
    for one in saved["gate"]["conditions"]:
        assert one["sentence"] in told
