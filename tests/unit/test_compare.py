"""Comparison of two reports: every pair of states has its word, and nothing unseen is fixed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kauditor.compare import compare
from kauditor.demo import demo_snapshot
from kauditor.model.comparison import Word
from kauditor.model.finding import Severity, State
from kauditor.model.report import Cluster, Report, Target
from kauditor.model.result import Result, Waived
from tests.unit.results import limit, report, result

WAIVED = Waived(until="2027-01-01", reason="r", owner="o")


def of(*results: Result, **changes: Any) -> Report:
    return report(results=results, **changes)


def words(old: Report, new: Report) -> list[Word]:
    return [one.word for one in compare(old, new).changes]


FAIL, WARN, PASS, UNKNOWN = State.FAIL, State.WARN, State.PASS, State.UNKNOWN


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (PASS, PASS, None),
        (PASS, UNKNOWN, None),
        (UNKNOWN, PASS, None),
        (PASS, FAIL, Word.NEW),
        (PASS, WARN, Word.NEW),
        (UNKNOWN, FAIL, Word.NEW),
        (State.NOT_APPLICABLE, FAIL, Word.NEW),
        (State.WAIVED, FAIL, Word.NEW),
        (State.WAIVED, State.WAIVED, None),
        (State.WAIVED, PASS, None),
        (WARN, FAIL, Word.WORSE),
        (FAIL, WARN, Word.BETTER),
        (FAIL, FAIL, Word.UNCHANGED),
        (WARN, WARN, Word.UNCHANGED),
        (FAIL, PASS, Word.FIXED),
        (WARN, PASS, Word.FIXED),
        (FAIL, State.NOT_APPLICABLE, Word.FIXED),
        (FAIL, UNKNOWN, Word.NO_LONGER_SEEN),
        (WARN, UNKNOWN, Word.NO_LONGER_SEEN),
        (FAIL, State.WAIVED, Word.WAIVED),
    ],
)
def test_every_change_of_state_has_its_word(old: State, new: State, word: Word | None) -> None:
    assert words(of(result(state=old)), of(result(state=new))) == ([word] if word else [])


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (1000, 951, Word.UNCHANGED),
        (1000, 950, Word.UNCHANGED),
        (1000, 949, Word.WORSE),
        (1000, 1052, Word.UNCHANGED),
        (1000, 1053, Word.BETTER),
        (0, 0, Word.UNCHANGED),
        (20, 19, Word.UNCHANGED),
        (19, 18, Word.WORSE),
    ],
)
def test_a_limit_has_to_move_by_more_than_five_percent(old: int, new: int, word: Word) -> None:
    rows = [of(result(nodes=nodes, dimension="things")) for nodes in (old, new)]
    assert words(*rows) == [word]


def test_a_risen_severity_is_worse_and_a_fallen_one_better() -> None:
    high, critical = of(result()), of(result(severity=Severity.CRITICAL))
    assert words(high, critical) == [Word.WORSE]
    assert words(critical, high) == [Word.BETTER]


def test_a_finding_is_known_again_by_check_subject_and_dimension_and_by_no_number() -> None:
    old = of(result(subject="a", summary="7 of 9", dimension="d", nodes=100))
    assert words(old, of(result(subject="a", summary="8 of 9", dimension="d", nodes=99))) == [
        Word.UNCHANGED
    ]
    assert words(old, of(result(subject="b", dimension="d", nodes=100))) == [Word.NEW, Word.FIXED]
    assert words(old, of(result(subject="a", dimension="e", nodes=100))) == [Word.NEW, Word.FIXED]


def test_a_subject_that_went_away_is_fixed_where_its_check_looked() -> None:
    old = of(result(subject="a"), result(subject="b"))
    assert words(old, of(result(subject="b"))) == [Word.FIXED, Word.UNCHANGED]


def test_a_load_that_turned_unknown_is_not_fixed_although_its_subject_is_gone() -> None:
    old = of(result(subject="10.0.0.0/16", dimension="blocks", nodes=9))
    assert words(old, of(result(state=UNKNOWN))) == [Word.NO_LONGER_SEEN]


def test_a_check_that_was_not_asked_any_more_fixed_nothing() -> None:
    old = of(result(), result(check="OTHER01", state=PASS))
    comparison = compare(old, of(result(check="OTHER01", state=PASS)))
    assert [one.word for one in comparison.changes] == [Word.NO_LONGER_SEEN]
    assert comparison.notes == ("Not asked any more: TEST001.",)


def test_of_several_findings_about_one_subject_each_is_counted() -> None:
    one, two = of(result()), of(result(), result(state=WARN))
    assert words(one, two) == [Word.NEW, Word.UNCHANGED]
    assert words(two, one) == [Word.FIXED, Word.UNCHANGED]


def test_a_report_is_unchanged_against_itself() -> None:
    from kauditor import packs
    from kauditor import scan as corridor

    checks = tuple(packs.load(installed=False))
    demo = corridor.judge(demo_snapshot(), corridor.Request(checks=checks, version="1"))
    again = msgspec.json.decode(msgspec.json.encode(demo), type=Report)
    comparison = compare(again, demo)
    found = [one for one in demo.results if one.state in (FAIL, WARN)]
    assert comparison.counts == {
        **{word.value: 0 for word in Word},
        Word.UNCHANGED.value: len(found),
    }
    assert (comparison.moves, comparison.notes) == ((), ())


def test_a_baseline_holds_back_exactly_what_it_holds() -> None:
    held = [result(subject=name) for name in "abc"]
    fresh = [result(subject=name) for name in "cde"]
    new = [one for one in compare(of(*held), of(*fresh)).changes if one.word is Word.NEW]
    assert [one.subject for one in new] == ["d", "e"]


def test_limits_that_moved_are_told_even_where_nothing_is_wrong() -> None:
    old, new = report(limits=(limit(9000),)), report(limits=(limit(8000),))
    comparison = compare(old, new)
    assert [(one.title, one.old, one.new) for one in comparison.moves] == [("Things", 9000, 8000)]
    assert comparison.changes == ()


def test_what_makes_reports_hard_to_compare_is_said() -> None:
    old, new = report(), report()
    other = msgspec.structs.replace(
        new,
        cluster=msgspec.structs.replace(new.cluster, uid="u-2", name="staging"),
        target=Target(nodes=2000, source="x"),
        tool=msgspec.structs.replace(new.tool, scoring="2"),
    )
    assert isinstance(other.cluster, Cluster)
    clusters, target, scores = compare(old, other).notes
    assert "two clusters" in clusters
    assert "was 1,000 nodes and is 2,000 nodes" in target
    assert "two models" in scores


ROWS = st.lists(
    st.builds(
        result,
        check=st.sampled_from(["A001", "B001"]),
        subject=st.sampled_from(["", "a", "b"]),
        dimension=st.sampled_from(["", "d"]),
        state=st.sampled_from(list(State)),
        severity=st.sampled_from(list(Severity)),
        nodes=st.none() | st.integers(0, 100),
    ),
    max_size=8,
)


@given(ROWS, ROWS)
def test_every_finding_of_either_report_gets_exactly_one_word(
    old: list[Result], new: list[Result]
) -> None:
    counts = compare(of(*old), of(*new)).counts
    kept = counts["worse"] + counts["better"] + counts["unchanged"]
    gone = counts["fixed"] + counts["no-longer-seen"] + counts["waived"]
    assert counts["new"] + kept == sum(one.state in (FAIL, WARN) for one in new)
    assert gone + kept == sum(one.state in (FAIL, WARN) for one in old)


@given(ROWS, ROWS)
def test_nothing_is_fixed_by_a_check_that_is_all_unknown(
    old: list[Result], new: list[Result]
) -> None:
    blind = [msgspec.structs.replace(one, state=UNKNOWN) for one in new]
    assert compare(of(*old), of(*blind)).counts["fixed"] == 0


@given(ROWS)
def test_nothing_changes_between_a_report_and_itself(rows: list[Result]) -> None:
    changes = compare(of(*rows), of(*reversed(rows))).changes
    assert {one.word for one in changes} <= {Word.UNCHANGED}
