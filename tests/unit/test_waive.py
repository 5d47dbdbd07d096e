"""Waivers: what they mark, what they leave, when they end, and what is said about them."""

import datetime
from typing import Any

import pytest

from kauditor.model.finding import State
from kauditor.model.result import Result
from kauditor.model.waiver import BadWaiver, Waiver
from kauditor.score import score
from kauditor.waive import Term, for_cluster, standings, term_of, unwaive, waive
from tests.unit.results import result

TODAY = datetime.date(2026, 6, 1)


def waiver(**changes: Any) -> Waiver:
    fields: dict[str, Any] = {
        "check": "TEST001",
        "until": datetime.date(2026, 9, 1),
        "reason": "moves in Q3",
        "owner": "storage@example.com",
        **changes,
    }
    return Waiver(**fields)


def state(
    one: Result, *waivers: Waiver, today: datetime.date = TODAY
) -> tuple[State, tuple[str, ...]]:
    (marked,), notes = waive([one], waivers, today)
    return marked.state, notes


def test_a_waived_finding_says_who_why_until_when_and_what_it_was() -> None:
    (marked,), notes = waive([result(state=State.WARN)], [waiver()], TODAY)
    assert marked.state is State.WAIVED
    assert marked.waived is not None
    assert (marked.waived.until, marked.waived.owner, marked.waived.reason, marked.waived.was) == (
        "2026-09-01", "storage@example.com", "moves in Q3", State.WARN,
    )  # fmt: skip
    assert notes == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State.FAIL, State.WAIVED),
        (State.WARN, State.WAIVED),
        (State.UNKNOWN, State.UNKNOWN),
        (State.PASS, State.PASS),
        (State.NOT_APPLICABLE, State.NOT_APPLICABLE),
    ],
)
def test_only_findings_can_be_accepted_and_never_an_unknown(before: State, after: State) -> None:
    assert state(result(state=before), waiver())[0] is after


@pytest.mark.parametrize(
    ("changes", "subject", "accepted"),
    [
        ({}, "anything", True),
        ({"check": "test"}, "", True),
        ({"check": "", "rule": "TEST001"}, "", True),
        ({"check": "TEST002"}, "", False),
        ({"subject": "shop/*"}, "shop/web", True),
        ({"subject": "shop/*"}, "data/web", False),
        ({"subject": "shop/w?b"}, "shop/web", True),
        ({"subject": "web"}, "web-2", False),
        ({"subject": "Web"}, "web", False),
    ],
)
def test_check_and_subject_choose_what_is_accepted(
    changes: dict[str, str], subject: str, accepted: bool
) -> None:
    found = state(result(subject=subject), waiver(**changes))[0]
    assert (found is State.WAIVED) == accepted


@pytest.mark.parametrize(
    ("days", "term"),
    [
        (-1, Term.ENDED),
        (0, Term.ENDED),
        (1, Term.ENDS_SOON),
        (14, Term.ENDS_SOON),
        (15, Term.HOLDS),
        (365, Term.HOLDS),
        (366, Term.TOO_FAR),
    ],
)
def test_a_waiver_holds_until_its_day_and_at_most_a_year(days: int, term: Term) -> None:
    one = waiver(until=TODAY + datetime.timedelta(days=days))
    assert term_of(one, TODAY) is term
    accepted = state(result(), one)[0] is State.WAIVED
    assert accepted == (term in (Term.HOLDS, Term.ENDS_SOON))


def test_an_ended_waiver_counts_again_and_says_so() -> None:
    found, (note,) = state(result(), waiver(until=TODAY))
    assert found is State.FAIL
    assert note == (
        "The waiver of TEST001 (storage@example.com) ended on 2026-06-01; "
        "what it accepted counts again."
    )


@pytest.mark.parametrize(
    ("one", "changes", "says"),
    [
        (result(state=State.PASS), {}, "matches no finding: remove it"),
        (result(subject="a"), {"subject": "b"}, "matches no finding: remove it"),
        (result(state=State.UNKNOWN), {}, "unknown stays unknown"),
        (result(state=State.PASS), {"until": TODAY}, "nothing left to accept"),
        (result(), {"until": datetime.date(2028, 1, 1)}, "more than 365 days after 2026-06-01"),
    ],
)
def test_a_waiver_that_does_nothing_is_reported(
    one: Result, changes: dict[str, Any], says: str
) -> None:
    _, (note,) = state(one, waiver(**changes))
    assert says in note


def test_a_waiver_whose_check_was_not_asked_is_not_called_unused() -> None:
    assert state(result(check="OTHER01", name="other"), waiver())[1] == ()


def test_of_two_waivers_neither_is_called_unused() -> None:
    (marked,), notes = waive(
        [result()], [waiver(), waiver(until=datetime.date(2026, 12, 1))], TODAY
    )
    assert marked.waived is not None
    assert (marked.waived.until, notes) == ("2026-12-01", ())


def test_an_ended_waiver_beside_one_that_holds_takes_nothing_back() -> None:
    assert state(result(), waiver(until=TODAY), waiver())[0] is State.WAIVED


def test_waivers_can_be_taken_off_again() -> None:
    rows = (result(), result(state=State.WARN), result(state=State.UNKNOWN))
    assert unwaive(waive(rows, [waiver()], TODAY)[0]) == rows


def test_a_waived_finding_is_decided_and_costs_nothing() -> None:
    marked, _ = waive([result()], [waiver()], TODAY)
    whole, _ = score(marked)
    assert (whole.value, whole.low, whole.coverage) == (100, 100, 100)


def test_what_is_waived_already_counts_as_used() -> None:
    marked, _ = waive([result()], [waiver()], TODAY)
    (standing,) = standings(marked, [waiver()], TODAY)
    assert (standing.accepted, standing.idle) == (1, False)


def test_a_waiver_may_be_for_some_clusters_only() -> None:
    one = waiver(cluster="prod-*")
    assert for_cluster([one], ["prod-eu"]) == [one]
    assert for_cluster([one], ["staging", "admin@prod-eu"]) == []
    assert for_cluster([waiver()], [""]) != []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"check": ""}, "name the check once"),
        ({"rule": "TEST001"}, "name the check once"),
        ({"reason": " "}, "reason is empty"),
        ({"owner": ""}, "owner is empty"),
    ],
)
def test_a_waiver_that_says_too_little_is_refused(changes: dict[str, str], says: str) -> None:
    with pytest.raises(BadWaiver, match=says):
        waiver(**changes)
