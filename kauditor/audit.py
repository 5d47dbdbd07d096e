"""Asks every chosen check its question, with the facts it names."""

import threading
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from kauditor.model.check import Check
from kauditor.model.fact import Derived, Fact, Unknown, Why, fact_name
from kauditor.model.finding import SEVERITY_ORDER, Finding, State
from kauditor.model.snapshot import Snapshot

# A check is a pure function over small facts; one that takes this long hangs.
CHECK_SECONDS = 10.0

F = TypeVar("F", bound=Fact)


class Answer(msgspec.Struct, frozen=True):
    """One finding and the check that made it."""

    check: Check
    finding: Finding


class FactTable:
    """Every fact by type, derived ones worked out once and on demand."""

    def __init__(self, snapshot: Snapshot, given: Iterable[Fact] = ()) -> None:
        self.snapshot = snapshot
        self.known: dict[type[Fact], Fact | Unknown] = {type(fact): fact for fact in given}

    def get(self, fact: type[F]) -> F | Unknown:
        """The fact, or why it is not known. Never raises."""
        if fact not in self.known:
            recipe = fact.recipe
            if isinstance(recipe, Derived):
                self.known[fact] = self._derive(fact, recipe)
            else:
                self.known[fact] = self.snapshot.fact(fact)
        return self.known[fact]  # type: ignore[return-value]

    def _derive(self, fact: type[Fact], recipe: Derived) -> Fact | Unknown:
        arguments = []
        for need in recipe.needs:
            value = self.get(need.fact)
            if isinstance(value, Unknown) and not need.takes_unknown:
                return value
            arguments.append(value)
        try:
            derived: Fact | Unknown = recipe.function(*arguments)
        except Exception as error:
            return Unknown(
                why=Why.BROKEN,
                detail=f"Working out {fact_name(fact)} failed: {type(error).__name__}: {error}.",
                lift="Report it to the author of the pack.",
            )
        return derived


def audit(
    checks: Iterable[Check],
    facts: FactTable,
    options: Mapping[str, Mapping[str, Any]],
    *,
    seconds: float = CHECK_SECONDS,
) -> list[Answer]:
    """Every check's findings, in the order of the checks. Never raises.

    ``options`` gives keyword arguments by check id. A check that raises, hangs longer than
    ``seconds`` or says nothing answers with one unknown that names it.
    """
    return [
        Answer(check, finding)
        for check in checks
        for finding in ask(check, facts, options.get(check.id, {}), seconds=seconds)
    ]


def ask(
    check: Check, facts: FactTable, options: Mapping[str, Any], *, seconds: float = CHECK_SECONDS
) -> list[Finding]:
    """One check's findings: at least one, whatever happens."""
    arguments: list[Fact | Unknown] = []
    for need in check.needs:
        value = facts.get(need.fact)
        if isinstance(value, Unknown) and not need.takes_unknown:
            return [_hole(value)]
        arguments.append(value)
    outcome: list[Finding] = []
    problem: list[str] = []

    def run() -> None:
        try:
            for finding in check.function(*arguments, **options):
                outcome.append(_checked(check, finding))
        except Exception as error:
            problem.append(f"{type(error).__name__}: {error}")

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if worker.is_alive():
        return [_broken(check, f"it did not answer within {seconds:g} seconds")]
    if problem:
        return [_broken(check, problem[0])]
    if not outcome:
        return [_broken(check, "it said nothing")]
    return outcome


def _checked(check: Check, finding: Finding) -> Finding:
    if not isinstance(finding, Finding):
        raise TypeError(f"it yielded {type(finding).__name__}, not a finding")
    if finding.state is None and finding.load is None:
        raise ValueError("it yielded a finding with neither state nor load")
    if finding.severity is not None and SEVERITY_ORDER.index(
        finding.severity
    ) < SEVERITY_ORDER.index(check.severity):
        # What an unknown costs is reckoned from the check's severity, so nothing may be worse.
        raise ValueError(f"it yielded {finding.severity}, worse than its own {check.severity}")
    return finding


def _hole(hole: Unknown) -> Finding:
    return Finding(state=State.UNKNOWN, summary=hole.detail, unknown=hole)


def _broken(check: Check, problem: str) -> Finding:
    return _hole(
        Unknown(
            why=Why.BROKEN,
            detail=f"Check {check.id} ({check.name}) is broken: {problem}.",
            lift=f"Report it to the author of the {check.pack} pack.",
        )
    )
