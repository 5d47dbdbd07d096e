"""The gate: one function decides, on the whole result, before anything is hidden for display."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from kauditor.model.check import Area
from kauditor.model.comparison import Change, Comparison, Word
from kauditor.model.finding import SEVERITY_ORDER, Severity, State
from kauditor.model.report import Gate, GateCondition, Report, Score

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
EXIT = {PASSED: 0, FAILED: 1, UNDECIDED: 4}
# A sentence names this many findings; the rest stands in the report.
NAMED = 3


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold; null where nothing is asked. ``min_coverage`` in percent.

    ``exit_zero`` changes the exit status and nothing else: the outcome is told all the same.
    """

    min_limit: int | None = None
    min_score: int | None = None
    min_area_score: Mapping[Area, int] | None = None
    fail_on: Severity | None = None
    min_coverage: int | None = None
    fail_on_new: bool | None = None
    fail_on_worse: bool | None = None
    exit_zero: bool = False

    @property
    def asks(self) -> bool:
        """Whether there is any condition."""
        return any(
            value not in (None, False, {})
            for name, value in msgspec.structs.asdict(self).items()
            if name != "exit_zero"
        )


def decide(policy: Policy, report: Report, comparison: Comparison | None = None) -> Gate:
    """Every condition with its value and bound; failed outweighs undecided outweighs passed.

    The report's own gate is not looked at. ``comparison`` is with the baseline; without one,
    conditions about new and worse findings are undecided.
    """
    conditions = tuple(_conditions(policy, report, comparison))
    if not conditions:
        return Gate(outcome="none", exit=0)
    outcomes = {condition.outcome for condition in conditions}
    outcome = next(word for word in (FAILED, UNDECIDED, PASSED) if word in outcomes)
    status = 0 if policy.exit_zero else EXIT[outcome]
    return Gate(outcome=outcome, exit=status, conditions=conditions)


def _conditions(
    policy: Policy, report: Report, comparison: Comparison | None
) -> Iterator[GateCondition]:
    if policy.min_limit is not None:
        yield _limit(policy.min_limit, report)
    if policy.min_score is not None:
        yield _score(policy.min_score, report.score)
    for area in Area:
        if area in (policy.min_area_score or {}):
            yield _area(area, (policy.min_area_score or {})[area], report)
    if policy.fail_on is not None:
        yield _severity(policy.fail_on, report)
    if policy.fail_on_new:
        yield _changed("fail-on-new", comparison, "new finding", _is_new)
    if policy.fail_on_worse:
        yield _changed("fail-on-worse", comparison, "worse finding", _is_worse)
    if policy.min_coverage is not None:
        yield _coverage(policy.min_coverage, report.score)


def _limit(bound: int, report: Report) -> GateCondition:
    waived = {(one.check, one.subject) for one in report.results if one.state is State.WAIVED}
    reaches = [
        (limit.nodes, limit.title)
        for limit in report.limits
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


def _score(bound: int, score: Score) -> GateCondition:
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


def _area(area: Area, bound: int, report: Report) -> GateCondition:
    name = f"min-area-score {area}"
    value = next((one.score for one in report.areas if one.id is area), None)
    if value is None:
        return GateCondition(
            name=name,
            value="none",
            bound=str(bound),
            outcome=UNDECIDED,
            sentence=f"no score of area {area}: nothing in it was decided, needs {bound}",
        )
    held = value >= bound
    return GateCondition(
        name=name,
        value=str(value),
        bound=str(bound),
        outcome=PASSED if held else FAILED,
        sentence=f"score {value} of area {area} {'is at least' if held else 'is under'} {bound}",
    )


def _severity(bound: Severity, report: Report) -> GateCondition:
    worst = SEVERITY_ORDER[: SEVERITY_ORDER.index(bound) + 1]
    found = [one for one in report.results if one.state is State.FAIL and one.severity in worst]
    return GateCondition(
        name="fail-on",
        value=str(len(found)),
        bound=bound.value,
        outcome=FAILED if found else PASSED,
        sentence=f"{len(found)} failed at {bound.value} or worse, allows 0",
    )


def _is_new(change: Change) -> bool:
    return change.word is Word.NEW


def _is_worse(change: Change) -> bool:
    # A limit that fell so far that it became a finding is new, and it did get worse.
    return change.word is Word.WORSE or (change.word is Word.NEW and change.fell)


def _changed(
    name: str, comparison: Comparison | None, what: str, counts: Callable[[Change], bool]
) -> GateCondition:
    if comparison is None:
        return GateCondition(
            name=name,
            value="none",
            bound="0",
            outcome=UNDECIDED,
            sentence=f"{name} has no baseline to compare with",
        )
    found = [one for one in comparison.changes if counts(one)]
    many = f"{len(found):,} {what}{'' if len(found) == 1 else 's'}"
    named = f" ({_named(found)})" if found else ""
    return GateCondition(
        name=name,
        value=str(len(found)),
        bound="0",
        outcome=FAILED if found else PASSED,
        sentence=f"{many} since {comparison.old.taken[:10]}{named}, allows 0",
    )


def _named(changes: Iterable[Change]) -> str:
    words = []
    for change in changes:
        text = f"{change.check} {change.subject or change.name}"
        old, new = change.old, change.new
        if old and new and old.nodes is not None and new.nodes is not None:
            text += f" from {old.nodes:,} to {new.nodes:,} nodes"
        elif old and new and old.severity is not new.severity:
            text += f" from {old.severity} to {new.severity}"
        words.append(text)
    more = len(words) - NAMED
    return "; ".join(words[:NAMED]) + (f"; {more:,} more" if more > 0 else "")


def _coverage(bound: int, score: Score) -> GateCondition:
    held = score.coverage >= bound
    return GateCondition(
        name="min-coverage",
        value=str(score.coverage),
        bound=str(bound),
        outcome=PASSED if held else UNDECIDED,
        sentence=f"coverage {score.coverage} % {'is at least' if held else 'is under'} {bound} %",
    )
