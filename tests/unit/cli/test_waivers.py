"""Waivers in settings: what scan does with them, and what `waivers check` says of them."""

import datetime
import json
from collections.abc import Callable

import pytest

from kauditor.cli import session
from kauditor.model.report import Report
from tests.unit.cli.invoke import Shell, waiver_of

SCAN = ("scan", "--demo", "--only", "AS002", "-o", "json")


@pytest.fixture(autouse=True)
def clock(demo: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the door shows the day of the demo, whenever the tests run."""
    monkeypatch.setattr(session, "now", lambda: demo.taken)


def test_a_waiver_lets_the_gate_pass_and_shows_in_the_report(shell: Shell, demo: Report) -> None:
    assert shell(*SCAN, "--fail-on", "low") == 1
    shell.write("kauditor.toml", waiver_of(demo))
    assert shell(*SCAN, "--fail-on", "low") == 0, shell.err
    (row,) = json.loads(shell.out)["results"]
    assert row["state"] == "waived"
    assert row["waived"]["owner"] == "o@example.com"
    assert row["waived"]["was"] == "fail"
    assert shell(*SCAN, "--fail-on", "low", "--no-waivers") == 1


@pytest.mark.parametrize(("days", "status"), [(0, 1), (1, 0), (365, 0)])
def test_it_holds_until_its_day(shell: Shell, demo: Report, days: int, status: int) -> None:
    shell.write("kauditor.toml", waiver_of(demo, days=days))
    assert shell(*SCAN, "--fail-on", "low") == status
    assert ("counts again" in shell.err) == (days == 0)


def test_more_than_a_year_ahead_is_refused(shell: Shell, demo: Report) -> None:
    shell.write("kauditor.toml", waiver_of(demo, days=366))
    for words in (SCAN, ("config", "validate"), ("waivers", "check")):
        refusal = shell.refusal(*words)
        assert "at most 365 days ahead" in refusal
        assert "kauditor.toml" in refusal


def test_an_old_snapshot_is_judged_as_of_its_own_day(
    shell: Shell, demo: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = datetime.date.fromisoformat(demo.taken[:10])
    later = taken + datetime.timedelta(days=300)
    monkeypatch.setattr(session, "now", lambda: f"{later}T00:00:00Z")
    shell.write("kauditor.toml", waiver_of(demo, days=30))
    assert shell(*SCAN, "--fail-on", "low") == 0
    shell.write("kauditor.toml", waiver_of(demo, days=600))
    assert shell(*SCAN, "--fail-on", "low") == 1
    assert "is not applied" in shell.err


def test_an_unused_waiver_is_reported(shell: Shell, demo: Report) -> None:
    shell.write("kauditor.toml", waiver_of(demo, more='subject = "nothing-of-this-name"\n'))
    assert shell(*SCAN) == 0
    assert "matches no finding: remove it" in shell.err
    assert any("matches no finding" in note for note in json.loads(shell.out)["notes"])


def test_a_waiver_of_another_cluster_does_nothing_here(shell: Shell, demo: Report) -> None:
    shell.write("kauditor.toml", waiver_of(demo, more='cluster = "prod-*"\n'))
    assert shell(*SCAN, "--fail-on", "low") == 1
    assert "waiver" not in shell.err
    shell.write(
        "kauditor.toml",
        waiver_of(demo, more='cluster = "home"\n') + '[cluster.home]\ncontext = "demo"\n',
    )
    assert shell(*SCAN, "--fail-on", "low") == 0


def test_a_waiver_of_a_check_that_does_not_exist_is_refused(shell: Shell, demo: Report) -> None:
    shell.write("kauditor.toml", waiver_of(demo, check="AS0002"))
    for words in (SCAN, ("config", "validate"), ("waivers", "check")):
        refusal = shell.refusal(*words)
        assert "no check 'AS0002'" in refusal
        assert "did you mean" in refusal


def test_waivers_check_tells_ended_idle_and_soon_ending_ones(
    shell: Shell, demo: Report, saved: Callable[..., str]
) -> None:
    shell.write("kauditor.toml", waiver_of(demo, days=40))
    assert shell("waivers", "check") == 0
    assert "holds until" in shell.out
    assert shell("waivers", "check", saved()) == 0
    assert "1 accepted" in shell.out
    shell.write(
        "kauditor.toml",
        waiver_of(demo, days=7)
        + waiver_of(demo, days=-1, check="SCHED001")
        + waiver_of(demo, more='subject = "nobody"\n'),
    )
    assert shell("waivers", "check") == 1
    assert "3 waivers, 1 end soon, 1 ended or without use." in shell.out
    assert shell("waivers", "check", "report.json") == 1
    assert "3 waivers, 1 end soon, 2 ended or without use." in shell.out
    assert "! AS002 nobody (o@example.com): holds" in shell.out
    assert "missing.json" in shell.refusal("waivers", "check", "missing.json")


def test_without_waivers_there_is_nothing_to_check(shell: Shell) -> None:
    assert shell("waivers", "check") == 0
    assert shell.out.startswith("0 waivers")


def test_controls_in_a_settings_file_never_reach_the_terminal(shell: Shell, demo: Report) -> None:
    text = (
        waiver_of(demo).replace("o@example.com", "o\\u001b[2J\\u009b").replace("AS002", "SCHED001")
    )
    shell.write("kauditor.toml", text)
    for words in (("waivers", "check"), ("config", "show"), ("scan", "--demo")):
        assert shell(*words) == 0
        assert not set("\x1b\x9b") & set(shell.out + shell.err)
