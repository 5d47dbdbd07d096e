"""The score: made to be gated on. The model is explained for readers in ``docs/scoring.md``."""

from collections.abc import Iterable

from kauditor.model.check import Area
from kauditor.model.dimension import Limit
from kauditor.model.fact import Why
from kauditor.model.finding import Severity, State
from kauditor.model.report import AreaScore, Score
from kauditor.model.result import Result

MODEL = "1"

# What a failure takes of what is left of its area (class ours; fixed by the scoring model).
SHARES = {
    Severity.CRITICAL: 0.60,
    Severity.HIGH: 0.30,
    Severity.MEDIUM: 0.12,
    Severity.LOW: 0.04,
    Severity.INFO: 0.0,
}
GRADES = ((90, "A"), (80, "B"), (70, "C"), (50, "D"), (0, "F"))
LEAST_COVERAGE = 40


def score(
    results: Iterable[Result], limits: Iterable[Limit] = ()
) -> tuple[Score, tuple[AreaScore, ...]]:
    """The whole and its areas, in the order of `Area`; an area without any result is left out."""
    by_area: dict[Area, list[Result]] = {}
    for result in results:
        by_area.setdefault(result.area, []).append(result)
    if not by_area:
        return Score(value=None, low=0, high=100, grade=None, coverage=0), ()
    first: dict[str, int] = {}
    for limit in limits:
        if limit.nodes is not None:
            first[limit.check] = min(first.get(limit.check, limit.nodes), limit.nodes)
    exact: list[tuple[float, float, float]] = []
    areas = []
    for area in Area:
        rows = by_area.get(area)
        # An area where nothing applies has no say.
        if not rows or all(row.state is State.NOT_APPLICABLE for row in rows):
            continue
        low, value, high = area_points(rows)
        exact.append((low, value, high))
        reaches = [first[row.check] for row in rows if row.check in first]
        areas.append(
            AreaScore(
                id=area,
                score=_whole(value) if any(decided(row) for row in rows) else None,
                low=_whole(low),
                high=_whole(high),
                checks=len({row.check for row in rows}),
                failed=sum(row.state is State.FAIL for row in rows),
                warned=sum(row.state is State.WARN for row in rows),
                unknown=sum(row.state is State.UNKNOWN for row in rows),
                first_limit=min(reaches, default=None),
            )
        )
    covered = coverage(row for rows in by_area.values() for row in rows)
    if not exact:
        return Score(value=None, low=0, high=100, grade=None, coverage=covered), tuple(areas)
    low, value, high = (_mean_with_weakest([row[part] for row in exact]) for part in range(3))
    enough = covered >= LEAST_COVERAGE
    return (
        Score(
            value=_whole(value) if enough else None,
            low=_whole(low),
            high=_whole(high),
            grade=grade(_whole(value)) if enough else None,
            coverage=covered,
        ),
        tuple(areas),
    )


def area_points(results: Iterable[Result]) -> tuple[float, float, float]:
    """(low, value, high) of one area, 0 to 100: 100 × Π(1 − share) over its results."""
    low = value = high = 100.0
    for result in results:
        if result.state is State.FAIL or result.state is State.WARN:
            share = SHARES[result.severity] * (0.5 if result.state is State.WARN else 1.0)
            low *= 1 - share
            value *= 1 - share
            high *= 1 - share
        elif result.state is State.UNKNOWN:
            # A capacity check can fail worse than its own severity says, so the low end has to
            # reckon with the worst.
            worst = Severity.CRITICAL if result.capacity else result.severity
            low *= 1 - SHARES[worst]
            if result.reason is not Why.MANAGED:
                value *= 1 - SHARES[result.severity] / 2
    return low, value, high


def coverage(results: Iterable[Result]) -> int:
    """Decided checks of all that apply, in percent, each weighted by its severity's share."""
    by_check: dict[str, list[Result]] = {}
    for result in results:
        by_check.setdefault(result.check, []).append(result)
    all_weight = decided_weight = 0.0
    for rows in by_check.values():
        applicable = [row for row in rows if row.state is not State.NOT_APPLICABLE]
        if not applicable:
            continue
        # A check's weight must not depend on its outcome: the heaviest it can have is used for
        # capacity checks, whose severity is computed.
        weight = max(
            SHARES[Severity.HIGH] if row.capacity else max(SHARES[row.severity], 0.04)
            for row in applicable
        )
        all_weight += weight
        decided_weight += weight * sum(map(decided, applicable)) / len(applicable)
    return int(100 * decided_weight / all_weight + 1e-9) if all_weight else 0


def decided(result: Result) -> bool:
    """Pass, warn, fail or waived: the question was answered."""
    return result.state not in (State.UNKNOWN, State.NOT_APPLICABLE)


def grade(value: int) -> str:
    """A 90, B 80, C 70, D 50, F."""
    return next(letter for bound, letter in GRADES if value >= bound)


def _mean_with_weakest(points: list[float]) -> float:
    return (min(points) + sum(points) / len(points)) / 2


def _whole(points: float) -> int:
    # Rounded down, so that a score shown is never above the score held to a bound.
    return int(points + 1e-9)
