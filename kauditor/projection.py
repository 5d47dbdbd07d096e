"""From loads to limits: at which number of nodes does each dimension bind, and what stops you next.

The rules stand in ``docs/scoring.md``.
"""

import math
from collections.abc import Iterable

import msgspec

from kauditor.audit import Answer
from kauditor.model.check import Check
from kauditor.model.dimension import Confidence, Growth, Limit, Load, SourceClass
from kauditor.model.fact import Evidence, Seen, Why
from kauditor.model.finding import Finding, Severity, State
from kauditor.model.report import Step
from kauditor.model.result import Result

# Nothing is projected further than this; the largest cluster anyone published had 130,000 nodes.
HORIZON = 1_000_000


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """Today and the target, in nodes; pods per node today and at the target."""

    nodes: int | None
    target: int | None
    pods_per_node: float | None = None
    target_pods_per_node: float | None = None


def reach_of(load: Load, base: Base) -> int | None:
    """The node count at which the load meets its limit; null where it does not follow nodes.

    The largest whole number of nodes that still fits, so a limit of 256 blocks gives 256.
    """
    if load.reach is not None:
        return min(load.reach, HORIZON)
    growth = load.dimension.grows
    if growth is Growth.FIXED or base.nodes is None:
        return None
    if growth is Growth.WALL:
        return min(math.floor(load.limit), HORIZON)
    room, growing = load.limit - load.constant, load.used - load.constant
    if growing <= 0:
        return HORIZON
    if room <= 0:
        return 0
    ratio = room / growing
    if growth is Growth.QUADRATIC:
        ratio = math.sqrt(ratio)
    elif growth is Growth.PODS and base.pods_per_node and base.target_pods_per_node:
        ratio *= base.pods_per_node / base.target_pods_per_node
    # A hair above the whole number is rounding, not room.
    return min(math.floor(base.nodes * ratio + 1e-9), HORIZON)


def severity_at(nodes: int, base: Base) -> tuple[State, Severity | None]:
    """State and severity of a limit at ``nodes``, by how far it stands from today and target."""
    today, target = base.nodes or 0, base.target or 0
    if nodes <= today:
        return State.FAIL, Severity.CRITICAL
    if nodes <= target:
        return State.FAIL, Severity.HIGH
    if nodes <= 1.25 * target:
        return State.WARN, Severity.MEDIUM
    return State.PASS, None


def severity_of_density(load: Load) -> tuple[State, Severity | None]:
    """State and severity of a load that does not follow the node count, by how full it is.

    Full is critical, from 90 % high, from 80 % medium (class ours).
    """
    if load.limit <= 0:
        return State.FAIL, Severity.CRITICAL
    share = load.used / load.limit
    if share >= 1:
        return State.FAIL, Severity.CRITICAL
    if share >= 0.9:
        return State.FAIL, Severity.HIGH
    if share >= 0.8:
        return State.WARN, Severity.MEDIUM
    return State.PASS, None


def points_at(nodes: int, base: Base) -> int:
    """A bottleneck's own points: 100 from 1.25 × target up, 75 at it, 0 at today's size."""
    today, target = base.nodes or 0, base.target or 0
    if nodes <= today:
        return 0
    if nodes < target:
        return int(75 * (nodes - today) / (target - today))
    if target <= 0 or nodes >= 1.25 * target:
        return 100
    return int(75 + 25 * (nodes - target) / (0.25 * target))


def confidence_of(basis: SourceClass, evidence: Iterable[Evidence]) -> Confidence:
    """High: a hard limit, and all evidence measured, declared or stated.

    Low: the threshold is field experience or our own, or some evidence is assumed or inferred.
    Medium: all else.
    """
    kinds = {row.seen for row in evidence}
    if kinds & {Seen.ASSUMED, Seen.INFERRED} or basis in (SourceClass.FIELD, SourceClass.OURS):
        return Confidence.LOW
    return Confidence.HIGH if basis is SourceClass.HARD else Confidence.MEDIUM


def project(answers: Iterable[Answer], base: Base) -> tuple[tuple[Result, ...], tuple[Limit, ...]]:
    """Results with their severity decided, and all limits, ascending, those without nodes last."""
    results: list[Result] = []
    limits: list[Limit] = []
    holes: dict[str, Check] = {}
    for answer in answers:
        result, limit = _decided(answer, base)
        results.append(result)
        if limit is not None:
            limits.append(limit)
        elif result.state is State.UNKNOWN:
            holes.setdefault(answer.check.id, answer.check)
    # A dimension that was measured for one subject is seen, whatever else is unknown.
    measured = {(limit.check, limit.dimension) for limit in limits}
    limits += [limit for check in holes.values() for limit in _unseen(check, measured)]
    limits.sort(
        key=lambda one: (
            one.nodes is None,
            one.nodes or 0,
            one.used is None,
            one.check,
            one.dimension,
            one.subject,
        )
    )
    return tuple(results), tuple(limits)


def _decided(answer: Answer, base: Base) -> tuple[Result, Limit | None]:
    check, finding = answer.check, answer.finding
    if finding.load is None:
        assert finding.state is not None
        return _result(check, finding, finding.state, finding.severity or check.severity), None
    load = finding.load
    if _never_grows(load):
        return _result(check, finding, State.PASS, check.severity), None
    if base.nodes is None and load.dimension.grows is not Growth.FIXED:
        return (
            _result(
                check,
                finding,
                State.UNKNOWN,
                check.severity,
                why=Why.UNREACHABLE,
                lift="Let the scan list nodes.",
                note="The number of nodes is not known, so it can't be projected.",
            ),
            None,
        )
    nodes = reach_of(load, base)
    if nodes is None:
        state, severity = severity_of_density(load)
    else:
        state, severity = severity_at(nodes, base)
    if load.dimension.guidance and state is State.FAIL:
        state, severity = State.WARN, Severity.MEDIUM
    result = _result(
        check,
        finding,
        state,
        severity or check.severity,
        nodes=nodes,
        dimension=load.dimension.name,
    )
    return result, _limit(check, finding, load, nodes, base)


def _never_grows(load: Load) -> bool:
    """Nothing is used that could grow: there is no node count at which it would run out."""
    return (
        load.reach is None
        and load.dimension.grows in (Growth.LINEAR, Growth.PODS, Growth.QUADRATIC)
        and load.used <= load.constant
        and load.limit > load.constant
    )


def _limit(check: Check, finding: Finding, load: Load, nodes: int | None, base: Base) -> Limit:
    dimension = load.dimension
    low = high = nodes
    if nodes is not None and load.spread > 0:
        low = min(nodes, math.floor(nodes / (1 + load.spread)))
        high = min(HORIZON, math.ceil(nodes / (1 - min(load.spread, 0.9))))
    return Limit(
        check=check.id,
        dimension=dimension.name,
        title=dimension.title or dimension.name,
        subject=finding.subject,
        nodes=nodes,
        low=low,
        high=high,
        kind=dimension.kind,
        confidence=confidence_of(dimension.basis, finding.evidence),
        # Counts come as whole numbers; the report has one form for them, also when read again.
        used=float(load.used),
        limit=float(load.limit),
        unit=dimension.unit,
        grows=dimension.grows,
        basis=dimension.basis,
        runs_out=dimension.runs_out,
        points=None if nodes is None else points_at(nodes, base),
    )


def _unseen(check: Check, measured: set[tuple[str, str]]) -> Iterable[Limit]:
    for dimension in check.dimensions:
        if (check.id, dimension.name) in measured:
            continue
        yield Limit(
            check=check.id,
            dimension=dimension.name,
            title=dimension.title or dimension.name,
            subject="",
            nodes=None,
            low=None,
            high=None,
            kind=dimension.kind,
            confidence=Confidence.NONE,
            used=None,
            limit=None,
            unit=dimension.unit,
            grows=dimension.grows,
            basis=dimension.basis,
            runs_out=dimension.runs_out,
        )


def _result(
    check: Check,
    finding: Finding,
    state: State,
    severity: Severity,
    *,
    nodes: int | None = None,
    dimension: str = "",
    why: Why | None = None,
    lift: str = "",
    note: str = "",
) -> Result:
    hole = finding.unknown
    return Result(
        check=check.id,
        name=check.name,
        area=check.area,
        severity=severity,
        state=state,
        reason=(hole.why if hole else why) if state is State.UNKNOWN else None,
        subject=finding.subject,
        summary=f"{finding.summary.rstrip('.')}. {note}".strip() if note else finding.summary,
        evidence=finding.evidence,
        references=check.references,
        fix=finding.fix or check.page.fix,
        title=check.page.title,
        why=check.page.why,
        verify=check.page.verify,
        lift=(hole.lift if hole else lift) if state is State.UNKNOWN else "",
        grant=str(hole.grant) if hole and hole.grant else "",
        nodes=nodes,
        dimension=dimension,
        capacity=finding.load is not None or (state is State.UNKNOWN and bool(check.dimensions)),
    )


def path_to(
    limits: Iterable[Limit], results: Iterable[Result], checks: Iterable[Check], base: Base
) -> tuple[Step, ...]:
    """The fixes in order: each lifts what is then the lowest limit; the next one is named.

    One fix mends a check for all its subjects, so a check stands here once.
    """
    target = base.target or 0
    pages = {check.id: check for check in checks}
    waived = {(r.check, r.subject) for r in results if r.state is State.WAIVED}
    standing = [
        limit
        for limit in limits
        if limit.nodes is not None and (limit.check, limit.subject) not in waived
    ]
    steps: list[Step] = []
    fixed: set[str] = set()
    while True:
        ahead = [limit for limit in standing if limit.check not in fixed]
        if not ahead or (ahead[0].nodes or 0) > target:
            return tuple(steps)
        first = ahead[0]
        fixed.add(first.check)
        following = next((limit for limit in ahead if limit.check not in fixed), None)
        check = pages[first.check]
        steps.append(
            Step(
                check=first.check,
                subject=first.subject,
                title=check.page.step,
                before=first.nodes or 0,
                after=following.nodes if following else None,
                then=following.title if following else "",
                effort=check.effort,
                risk=check.risk,
            )
        )
