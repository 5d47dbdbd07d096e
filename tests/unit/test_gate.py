"""The gate: each condition on both sides of its bound, and which outcome outweighs which."""

from typing import Any

import pytest

from kauditor.compare import compare
from kauditor.gate import Policy, decide
from kauditor.model.check import Area
from kauditor.model.finding import Severity, State
from kauditor.model.report import AreaScore, Report, Score
from tests.unit.results import limit, report, result


def score(value: int | None = 70, coverage: int = 90) -> Score:
    return Score(value=value, low=0, high=100, grade="C", coverage=coverage)


def area(value: int | None = 60, area: Area = Area.NETWORK) -> AreaScore:
    return AreaScore(id=area, score=value, low=0, high=100)


def scanned(**changes: Any) -> Report:
    return report(
        **{
            "limits": (limit(None), limit(300), limit(900)),
            "areas": (area(), area(None, Area.ETCD)),
            "results": (result(),),
            **changes,
        }
    )


@pytest.mark.parametrize(
    ("policy", "outcome", "status"),
    [
        (Policy(), "none", 0),
        (Policy(min_limit=300), "passed", 0),
        (Policy(min_limit=301), "failed", 1),
        (Policy(min_score=70), "passed", 0),
        (Policy(min_score=71), "failed", 1),
        (Policy(min_area_score={Area.NETWORK: 60}), "passed", 0),
        (Policy(min_area_score={Area.NETWORK: 61}), "failed", 1),
        (Policy(min_area_score={Area.NETWORK: 60, Area.ETCD: 0}), "undecided", 4),
        (Policy(min_area_score={Area.NETWORK: 61, Area.ETCD: 0}), "failed", 1),
        (Policy(min_area_score={Area.BATCH: 0}), "undecided", 4),
        (Policy(min_coverage=90), "passed", 0),
        (Policy(min_coverage=91), "undecided", 4),
        (Policy(fail_on=Severity.CRITICAL), "passed", 0),
        (Policy(fail_on=Severity.HIGH), "failed", 1),
        (Policy(fail_on=Severity.LOW), "failed", 1),
        (Policy(fail_on_new=True), "undecided", 4),
        (Policy(fail_on_worse=True), "undecided", 4),
        (Policy(fail_on_new=False, fail_on_worse=False), "none", 0),
        (Policy(min_limit=301, min_coverage=91), "failed", 1),
        (Policy(min_limit=300, min_coverage=91), "undecided", 4),
        (Policy(min_limit=301, exit_zero=True), "failed", 0),
        (Policy(min_coverage=91, exit_zero=True), "undecided", 0),
    ],
)
def test_each_condition_is_decided_at_its_bound(policy: Policy, outcome: str, status: int) -> None:
    gate = decide(policy, scanned())
    assert (gate.outcome, gate.exit) == (outcome, status)
    assert policy.asks == (outcome != "none")


def test_no_decided_limit_is_undecided() -> None:
    assert decide(Policy(min_limit=1), scanned(limits=(limit(None),))).exit == 4


def test_no_score_is_undecided() -> None:
    assert decide(Policy(min_score=0), scanned(score=score(value=None))).exit == 4


def test_a_warning_does_not_fail_a_severity_gate() -> None:
    warned = scanned(results=(result(state=State.WARN),))
    assert decide(Policy(fail_on=Severity.LOW), warned).exit == 0


def test_a_waived_limit_is_not_held_against_the_gate() -> None:
    limits = (limit(100, check="TEST001"), limit(900, check="TEST002"))
    waived = scanned(limits=limits, results=(result(state=State.WAIVED),))
    assert decide(Policy(min_limit=500), waived).exit == 0


def test_every_condition_shows_its_value_and_its_bound() -> None:
    policy = Policy(
        min_limit=500,
        min_score=80,
        min_area_score={Area.NETWORK: 70},
        fail_on=Severity.HIGH,
        fail_on_new=True,
        fail_on_worse=True,
        min_coverage=95,
    )
    now = scanned()
    gate = decide(policy, now, compare(scanned(results=()), now))
    assert [(one.name, one.value, one.bound) for one in gate.conditions] == [
        ("min-limit", "300", "500"),
        ("min-score", "70", "80"),
        ("min-area-score network", "60", "70"),
        ("fail-on", "1", "high"),
        ("fail-on-new", "1", "0"),
        ("fail-on-worse", "0", "0"),
        ("min-coverage", "90", "95"),
    ]
    assert all(one.value in one.sentence.replace(",", "") for one in gate.conditions)


def row(nodes: int, state: State = State.FAIL) -> tuple[Any, ...]:
    return (result(subject="a", dimension="d", nodes=nodes, state=state),)


@pytest.mark.parametrize(
    ("old", "new", "on_new", "on_worse"),
    [
        (row(900), row(900), 0, 0),
        (row(900), row(855), 0, 0),
        (row(900), row(854), 0, 1),
        (row(900), row(2000), 0, 0),
        (row(900), (), 0, 0),
        ((), row(900), 1, 0),
        # Fell into reach of the target: a finding that was not there, of a limit that was.
        (row(9000, State.PASS), row(900), 1, 1),
        (row(901, State.PASS), row(900, State.WARN), 1, 0),
        # Fell, and is still well beyond the target.
        (row(9000, State.PASS), row(5000, State.PASS), 0, 0),
    ],
)
def test_new_and_worse_findings_fail_their_own_conditions(
    old: tuple[Any, ...], new: tuple[Any, ...], on_new: int, on_worse: int
) -> None:
    now = scanned(results=new)
    since = compare(scanned(results=old), now)
    assert decide(Policy(fail_on_new=True), now, since).exit == on_new
    assert decide(Policy(fail_on_worse=True), now, since).exit == on_worse


def test_the_sentence_of_a_comparison_names_what_changed_and_since_when() -> None:
    old, new = scanned(results=row(900)), scanned(results=row(300))
    (condition,) = decide(Policy(fail_on_worse=True), new, compare(old, new)).conditions
    assert condition.sentence == (
        "1 worse finding since 2026-06-01 (TEST001 a from 900 to 300 nodes), allows 0"
    )


def test_a_long_list_of_changes_is_cut_and_says_so() -> None:
    new = scanned(results=tuple(result(subject=f"s{n}") for n in range(5)))
    (condition,) = decide(
        Policy(fail_on_new=True), new, compare(scanned(results=()), new)
    ).conditions
    assert "TEST001 s0; TEST001 s1; TEST001 s2; 2 more" in condition.sentence
