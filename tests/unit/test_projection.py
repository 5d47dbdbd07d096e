"""From loads to limits: formulas, severities at their bounds, the path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kauditor.model.dimension import Confidence, Dimension, Growth, Load, SourceClass
from kauditor.model.fact import Evidence, Seen
from kauditor.model.finding import Severity, State
from kauditor.projection import (
    HORIZON,
    Base,
    confidence_of,
    points_at,
    reach_of,
    severity_at,
    severity_of_density,
)

BASE = Base(nodes=100, target=1000, pods_per_node=30.0, target_pods_per_node=30.0)


def load(growth: Growth, used: float, limit: float, constant: float = 0.0) -> Load:
    return Load(
        dimension=Dimension("things", unit="things", grows=growth),
        used=used,
        limit=limit,
        constant=constant,
    )


@pytest.mark.parametrize(
    ("growth", "used", "limit", "constant", "nodes"),
    [
        (Growth.LINEAR, 50, 100, 0, 200),
        (Growth.LINEAR, 50, 100, 25, 300),
        (Growth.LINEAR, 50, 99, 0, 198),
        (Growth.LINEAR, 3, 10, 0, 333),
        (Growth.LINEAR, 0, 10, 0, HORIZON),
        (Growth.LINEAR, 50, 20, 30, 0),
        (Growth.PODS, 50, 100, 0, 200),
        (Growth.QUADRATIC, 50, 200, 0, 200),
        (Growth.WALL, 100, 256, 0, 256),
        (Growth.FIXED, 50, 100, 0, None),
    ],
)
def test_a_limit_stands_where_the_load_meets_it(
    growth: Growth, used: float, limit: float, constant: float, nodes: int | None
) -> None:
    assert reach_of(load(growth, used, limit, constant), BASE) == nodes


def test_denser_pods_at_the_target_meet_a_pod_limit_earlier() -> None:
    denser = Base(nodes=100, target=1000, pods_per_node=30.0, target_pods_per_node=60.0)
    assert reach_of(load(Growth.PODS, 50, 100), denser) == 100


@given(st.integers(1, 10_000), st.floats(1, 1e9), st.floats(1, 1e9))
def test_a_limit_is_the_last_whole_node_that_fits(nodes: int, used: float, limit: float) -> None:
    base = Base(nodes=nodes, target=nodes * 2)
    reach = reach_of(load(Growth.LINEAR, used, limit), base)
    assert reach is not None
    if reach < HORIZON:
        assert used * reach / nodes <= limit * (1 + 1e-6)
        assert used * (reach + 1) / nodes > limit * (1 - 1e-6)


@pytest.mark.parametrize(
    ("nodes", "state", "severity"),
    [
        (100, State.FAIL, Severity.CRITICAL),
        (101, State.FAIL, Severity.HIGH),
        (1000, State.FAIL, Severity.HIGH),
        (1001, State.WARN, Severity.MEDIUM),
        (1250, State.WARN, Severity.MEDIUM),
        (1251, State.PASS, None),
    ],
)
def test_severity_changes_at_today_target_and_a_quarter_above(
    nodes: int, state: State, severity: Severity | None
) -> None:
    assert severity_at(nodes, BASE) == (state, severity)


@pytest.mark.parametrize(
    ("used", "severity"),
    [(79, None), (80, Severity.MEDIUM), (90, Severity.HIGH), (100, Severity.CRITICAL)],
)
def test_density_is_judged_by_how_full_it_is(used: float, severity: Severity | None) -> None:
    assert severity_of_density(load(Growth.FIXED, used, 100))[1] == severity


@pytest.mark.parametrize(
    ("nodes", "points"), [(100, 0), (550, 37), (1000, 75), (1125, 87), (1250, 100)]
)
def test_points_rise_straight_between_today_and_the_target(nodes: int, points: int) -> None:
    assert points_at(nodes, BASE) == points


def row(how: Seen) -> Evidence:
    return Evidence(what="x", value="1", source="somewhere", seen=how)


@pytest.mark.parametrize(
    ("basis", "how", "confidence"),
    [
        (SourceClass.HARD, Seen.MEASURED, Confidence.HIGH),
        (SourceClass.HARD, Seen.STATED, Confidence.HIGH),
        (SourceClass.OFFICIAL, Seen.MEASURED, Confidence.MEDIUM),
        (SourceClass.HARD, Seen.ASSUMED, Confidence.LOW),
        (SourceClass.HARD, Seen.INFERRED, Confidence.LOW),
        (SourceClass.OURS, Seen.MEASURED, Confidence.LOW),
    ],
)
def test_confidence_follows_from_evidence(
    basis: SourceClass, how: Seen, confidence: Confidence
) -> None:
    assert confidence_of(basis, [row(Seen.MEASURED), row(how)]) is confidence
