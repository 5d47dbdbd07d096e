"""The score: worked examples, and the properties that a gate can be built on."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kauditor.model.check import Area
from kauditor.model.fact import Why
from kauditor.model.finding import Severity, State
from kauditor.model.result import Result
from kauditor.score import area_points, coverage, grade, score
from tests.unit.results import result

results = st.lists(
    st.builds(
        result,
        check=st.sampled_from([f"TEST{number:03}" for number in range(12)]),
        area=st.sampled_from(list(Area)[:4]),
        severity=st.sampled_from(Severity),
        state=st.sampled_from(State),
        capacity=st.booleans(),
    ),
    min_size=1,
    max_size=24,
)


def value_of(rows: list[Result]) -> int:
    """The value where there is one; the middle of nothing else."""
    return score(rows)[0].value or 0


def exact(rows: list[Result]) -> tuple[int, int]:
    whole, _ = score(rows)
    return whole.low, whole.high


def changed(rows: list[Result], place: int, **changes: object) -> list[Result]:
    place %= len(rows)
    return [*rows[:place], msgspec.structs.replace(rows[place], **changes), *rows[place + 1 :]]


def test_the_worked_example_of_the_documentation_comes_out() -> None:
    rows = [
        result(severity=Severity.CRITICAL),
        result(check="TEST002", severity=Severity.MEDIUM, state=State.WARN),
        result(check="TEST003", area=Area.ETCD, severity=Severity.HIGH),
    ]
    assert area_points(rows[:2]) == pytest.approx((37.6, 37.6, 37.6))
    assert score(rows)[0].value == 45


def test_passes_do_not_dilute() -> None:
    bad = [result(severity=Severity.CRITICAL)]
    many = bad + [result(check=f"TEST{n:03}", state=State.PASS) for n in range(2, 200)]
    assert value_of(bad) == value_of(many) == 40


def test_unknown_costs_as_fail_in_low_as_warn_in_value_nothing_in_high() -> None:
    rows = [result(state=State.UNKNOWN), result(check="TEST002", state=State.PASS)]
    assert area_points(rows) == pytest.approx((70.0, 85.0, 100.0))


def test_a_managed_unknown_costs_nothing_in_the_value() -> None:
    rows = [result(state=State.UNKNOWN, reason=Why.MANAGED)]
    assert area_points(rows) == pytest.approx((70.0, 100.0, 100.0))


def test_nothing_seen_gives_no_value_and_no_grade() -> None:
    whole, areas = score([result(state=State.UNKNOWN) for _ in range(3)])
    assert (whole.value, whole.grade, whole.coverage) == (None, None, 0)
    assert areas[0].score is None


@pytest.mark.parametrize(
    ("decided", "expected"), [(39, None), (40, 100 * 0)], ids=["39 % has none", "40 % has one"]
)
def test_forty_percent_coverage_is_the_bound(decided: int, expected: int | None) -> None:
    rows = [
        result(check=f"TEST{n:03}", state=State.PASS if n < decided else State.UNKNOWN)
        for n in range(100)
    ]
    whole, _ = score(rows)
    assert whole.coverage == decided
    assert (whole.value is None) == (expected is None)


@pytest.mark.parametrize(
    ("value", "letter"),
    [
        (100, "A"),
        (90, "A"),
        (89, "B"),
        (80, "B"),
        (79, "C"),
        (70, "C"),
        (69, "D"),
        (50, "D"),
        (49, "F"),
        (0, "F"),
    ],
)
def test_grades_change_at_their_bounds(value: int, letter: str) -> None:
    assert grade(value) == letter


def test_not_applicable_leaves_coverage_alone() -> None:
    rows = [result(state=State.PASS), result(check="TEST002", state=State.NOT_APPLICABLE)]
    assert coverage(rows) == 100


@given(results, st.integers(0, 100))
def test_fixing_a_finding_never_lowers_anything(rows: list[Result], place: int) -> None:
    fixed = changed(rows, place, state=State.PASS, reason=None)
    if rows[place % len(rows)].state in (State.FAIL, State.WARN, State.UNKNOWN):
        assert exact(fixed)[0] >= exact(rows)[0]
        assert exact(fixed)[1] >= exact(rows)[1]
        before, after = score(rows)[0].value, score(fixed)[0].value
        if before is not None and after is not None:
            assert after >= before


@given(results, st.sampled_from(Severity))
def test_adding_a_finding_to_a_known_area_never_raises_anything(
    rows: list[Result], severity: Severity
) -> None:
    areas = [row.area for row in rows if row.state is not State.NOT_APPLICABLE]
    if not areas:
        return
    more = [*rows, result(check="TEST999", severity=severity, area=areas[0])]
    assert exact(more)[0] <= exact(rows)[0]
    assert exact(more)[1] <= exact(rows)[1]
    before, after = score(rows)[0].value, score(more)[0].value
    if before is not None and after is not None:
        assert after <= before


@given(results, st.integers(0, 100))
def test_a_failure_that_turns_unknown_never_raises_the_low_end(
    rows: list[Result], place: int
) -> None:
    if rows[place % len(rows)].state is State.FAIL:
        hidden = changed(rows, place, state=State.UNKNOWN, reason=Why.FORBIDDEN)
        assert exact(hidden)[0] <= exact(rows)[0]


@given(results, st.integers(0, 100))
def test_a_pass_that_turns_unknown_never_raises_the_value(rows: list[Result], place: int) -> None:
    if rows[place % len(rows)].state is State.PASS:
        hidden = changed(rows, place, state=State.UNKNOWN, reason=Why.FORBIDDEN)
        before, after = score(rows)[0].value, score(hidden)[0].value
        if before is not None and after is not None:
            assert after <= before


@given(results)
def test_the_interval_holds_the_value(rows: list[Result]) -> None:
    whole, areas = score(rows)
    assert 0 <= whole.low <= whole.high <= 100
    if whole.value is not None:
        assert whole.low <= whole.value <= whole.high
    for area in areas:
        assert area.score is None or area.low <= area.score <= area.high


@given(results, st.randoms())
def test_the_order_of_results_does_not_matter(rows: list[Result], random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert score(rows) == score(mixed)
