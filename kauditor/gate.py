"""The gate: one function decides, on the whole result, before anything is hidden for display."""

from collections.abc import Iterable

import msgspec

from kauditor.model.dimension import Limit
from kauditor.model.finding import SEVERITY_ORDER, Severity, State
from kauditor.model.report import Gate, GateCondition, Score
from kauditor.model.result import Result

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
EXIT = {PASSED: 0, FAILED: 1, UNDECIDED: 4}


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold; null where nothing is asked. ``min_coverage`` in percent."""

    min_limit: int | None = None
    min_score: int | None = None
    fail_on: Severity | None = None
    min_coverage: int | None = None


def decide(
    policy: Policy, limits: Iterable[Limit], score: Score, results: Iterable[Result]
) -> Gate:
    """Every condition with its value and bound; failed outweighs undecided outweighs passed."""
    results = tuple(results)
    conditions = [
        condition
        for condition in (
            _limit(policy.min_limit, limits, results),
            _score(policy.min_score, score),
            _severity(policy.fail_on, results),
            _coverage(policy.min_coverage, score),
        )
        if condition is not None
    ]
    if not conditions:
        return Gate(outcome="none", exit=0)
    outcomes = {condition.outcome for condition in conditions}
    outcome = next(word for word in (FAILED, UNDECIDED, PASSED) if word in outcomes)
    return Gate(outcome=outcome, exit=EXIT[outcome], conditions=tuple(conditions))


def _limit(
    bound: int | None, limits: Iterable[Limit], results: tuple[Result, ...]
) -> GateCondition | None:
    if bound is None:
        return None
    waived = {(one.check, one.subject) for one in results if one.state is State.WAIVED}
    reaches = [
        (limit.nodes, limit.title)
        for limit in limits
        if limit.nodes is not None and (limit.check, limit.subject) not in waived
    ]
    if not reaches:
        return GateCondition(
            name="min-limit",
            value="none",
            bound=str(bound),
            outcome=UNDECIDED,
            sentence=f"no limit was decided, needs {bound:,} nodes",
        )
    nodes, title = min(reaches)
    outcome = PASSED if nodes >= bound else FAILED
    words = "is at least" if nodes >= bound else "is under"
    return GateCondition(
        name="min-limit",
        value=str(nodes),
        bound=str(bound),
        outcome=outcome,
        sentence=f"first limit {nodes:,} nodes ({title}) {words} {bound:,}",
    )


def _score(bound: int | None, score: Score) -> GateCondition | None:
    if bound is None:
        return None
    if score.value is None:
        return GateCondition(
            name="min-score",
            value="none",
            bound=str(bound),
            outcome=UNDECIDED,
            sentence=f"no score at {score.coverage} % coverage, needs {bound}",
        )
    held = score.value >= bound
    return GateCondition(
        name="min-score",
        value=str(score.value),
        bound=str(bound),
        outcome=PASSED if held else FAILED,
        sentence=f"score {score.value} {'is at least' if held else 'is under'} {bound}",
    )


def _severity(bound: Severity | None, results: tuple[Result, ...]) -> GateCondition | None:
    if bound is None:
        return None
    worst = SEVERITY_ORDER[: SEVERITY_ORDER.index(bound) + 1]
    found = [one for one in results if one.state is State.FAIL and one.severity in worst]
    return GateCondition(
        name="fail-on",
        value=str(len(found)),
        bound=bound.value,
        outcome=FAILED if found else PASSED,
        sentence=f"{len(found)} failed at {bound.value} or worse, allows 0",
    )


def _coverage(bound: int | None, score: Score) -> GateCondition | None:
    if bound is None:
        return None
    held = score.coverage >= bound
    return GateCondition(
        name="min-coverage",
        value=str(score.coverage),
        bound=str(bound),
        outcome=PASSED if held else UNDECIDED,
        sentence=f"coverage {score.coverage} % {'is at least' if held else 'is under'} {bound} %",
    )
