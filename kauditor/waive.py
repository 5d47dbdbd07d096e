"""Waivers: an accepted finding is marked as such, until its date; an unknown can't be accepted.

Which day it is comes in as a value, so that a replay tells what the scan told.
"""

import datetime
from collections.abc import Iterable, Iterator
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from kauditor.model.clean import clean
from kauditor.model.finding import State
from kauditor.model.result import Result, Waived
from kauditor.model.waiver import LONGEST_DAYS, Waiver

SOON_DAYS = 14
COUNTS = (State.FAIL, State.WARN)


class Term(StrEnum):
    """How a waiver's date stands to a day."""

    HOLDS = "holds"
    ENDS_SOON = "ends soon"
    ENDED = "ended"
    TOO_FAR = "too far ahead"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One waiver against a report: ``accepted`` findings, and what it meets besides.

    ``asked`` says that its check was among those asked; ``unseen`` that what it would accept is
    unknown.
    """

    waiver: Waiver
    term: Term
    accepted: int
    asked: bool
    unseen: bool

    @property
    def idle(self) -> bool:
        """Its check was asked, and there is nothing for it to accept."""
        return self.asked and not self.accepted


def term_of(waiver: Waiver, today: datetime.date) -> Term:
    """Whether it holds on that day. On the day itself it has ended."""
    days = (waiver.until - today).days
    if days <= 0:
        return Term.ENDED
    if days > LONGEST_DAYS:
        return Term.TOO_FAR
    return Term.ENDS_SOON if days <= SOON_DAYS else Term.HOLDS


def applies(waiver: Waiver, result: Result) -> bool:
    """Whether check and subject are the ones that the waiver names."""
    return waiver.of in (result.check, result.name) and fnmatchcase(
        clean(result.subject), waiver.subject
    )


def for_cluster(waivers: Iterable[Waiver], names: Iterable[str]) -> list[Waiver]:
    """Those that are about a cluster with one of these names (its name, its context)."""
    names = tuple(names)
    return [one for one in waivers if any(fnmatchcase(name, one.cluster) for name in names)]


def waive(
    results: Iterable[Result], waivers: Iterable[Waiver], today: datetime.date
) -> tuple[tuple[Result, ...], tuple[str, ...]]:
    """The results, accepted ones marked, and sentences about waivers that ended or do nothing."""
    results, waivers = tuple(results), tuple(waivers)
    holding = [one for one in waivers if term_of(one, today) in (Term.HOLDS, Term.ENDS_SOON)]
    marked = tuple(_marked(result, holding) for result in results)
    return marked, tuple(_notes(standings(results, waivers, today), today))


def unwaive(results: Iterable[Result]) -> tuple[Result, ...]:
    """The results as they were before anything was accepted."""
    return tuple(
        msgspec.structs.replace(one, state=one.waived.was, waived=None)
        if one.state is State.WAIVED and one.waived is not None
        else one
        for one in results
    )


def standings(
    results: Iterable[Result], waivers: Iterable[Waiver], today: datetime.date
) -> list[Standing]:
    """How each waiver stands, in their order."""
    results = tuple(results)
    asked = {name for one in results for name in (one.check, one.name)}
    found = []
    for waiver in waivers:
        met = [one for one in results if applies(waiver, one)]
        found.append(
            Standing(
                waiver=waiver,
                term=term_of(waiver, today),
                accepted=sum(one.state in (*COUNTS, State.WAIVED) for one in met),
                asked=waiver.of in asked,
                unseen=any(
                    one.state is State.UNKNOWN
                    for one in results
                    if waiver.of in (one.check, one.name)
                ),
            )
        )
    return found


def _marked(result: Result, waivers: list[Waiver]) -> Result:
    if result.state not in COUNTS:
        return result
    # Of several, the one that holds longest: none of them takes it back.
    matching = [one for one in waivers if applies(one, result)]
    if not matching:
        return result
    waiver = max(matching, key=lambda one: one.until)
    return msgspec.structs.replace(
        result,
        state=State.WAIVED,
        waived=Waived(
            until=waiver.until.isoformat(),
            reason=waiver.reason,
            owner=waiver.owner,
            was=result.state,
        ),
    )


def _notes(found: Iterable[Standing], today: datetime.date) -> Iterator[str]:
    for one in found:
        title = f"The waiver of {one.waiver.title}"
        if one.term is Term.ENDED:
            meets = (
                "what it accepted counts again"
                if one.accepted
                else "there is nothing left to accept: remove it"
                if one.idle
                else "its check was not asked"
            )
            yield f"{title} ended on {one.waiver.until}; {meets}."
        elif one.term is Term.TOO_FAR:
            yield (
                f"{title} is not applied: {one.waiver.until} is more than {LONGEST_DAYS} days "
                f"after {today}."
            )
        elif one.idle and one.unseen:
            yield f"{title} accepts nothing: what it is about was not seen, and unknown stays unknown."
        elif one.idle:
            yield f"{title} matches no finding: remove it."
