"""The gate: each condition on both sides of its bound, and which outcome outweighs which."""

import pytest

from kauditor.gate import Policy, decide
from kauditor.model.finding import Severity, State
from kauditor.model.report import Score
from tests.unit.results import limit, result


def score(value: int | None = 70, coverage: int = 90) -> Score:
    return Score(value=value, low=0, high=100, grade="C", coverage=coverage)


@pytest.mark.parametrize(
    ("policy", "outcome", "status"),
    [
        (Policy(), "none", 0),
        (Policy(min_limit=300), "passed", 0),
        (Policy(min_limit=301), "failed", 1),
        (Policy(min_score=70), "passed", 0),
        (Policy(min_score=71), "failed", 1),
        (Policy(min_coverage=90), "passed", 0),
        (Policy(min_coverage=91), "undecided", 4),
        (Policy(fail_on=Severity.CRITICAL), "passed", 0),
        (Policy(fail_on=Severity.HIGH), "failed", 1),
        (Policy(fail_on=Severity.LOW), "failed", 1),
        (Policy(min_limit=301, min_coverage=91), "failed", 1),
        (Policy(min_limit=300, min_coverage=91), "undecided", 4),
    ],
)
def test_each_condition_is_decided_at_its_bound(policy: Policy, outcome: str, status: int) -> None:
    gate = decide(policy, [limit(None), limit(300), limit(900)], score(), [result()])
    assert (gate.outcome, gate.exit) == (outcome, status)


def test_no_decided_limit_is_undecided() -> None:
    assert decide(Policy(min_limit=1), [limit(None)], score(), []).exit == 4


def test_no_score_is_undecided() -> None:
    assert decide(Policy(min_score=0), [], score(value=None), []).exit == 4


def test_a_warning_does_not_fail_a_severity_gate() -> None:
    assert decide(Policy(fail_on=Severity.LOW), [], score(), [result(state=State.WARN)]).exit == 0


def test_a_waived_limit_is_not_held_against_the_gate() -> None:
    limits = [limit(100, check="TEST001"), limit(900, check="TEST002")]
    waived = [result(state=State.WAIVED)]
    assert decide(Policy(min_limit=500), limits, score(), waived).exit == 0


def test_every_condition_shows_its_value_and_its_bound() -> None:
    policy = Policy(min_limit=500, min_score=80, fail_on=Severity.HIGH, min_coverage=95)
    gate = decide(policy, [limit(300)], score(), [result()])
    assert [(one.name, one.value, one.bound) for one in gate.conditions] == [
        ("min-limit", "300", "500"),
        ("min-score", "70", "80"),
        ("fail-on", "1", "high"),
        ("min-coverage", "90", "95"),
    ]
