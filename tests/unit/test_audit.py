"""Asking checks: what they yield, and what happens when they misbehave."""

import time
from collections.abc import Callable, Iterator

import pytest

from kauditor.audit import FactTable, ask
from kauditor.collect import collect
from kauditor.facts.pods import Pods
from kauditor.model.check import Area, Check, check
from kauditor.model.fact import Unknown, Why
from kauditor.model.finding import Finding, Severity, State, fail, ok
from kauditor.testing import TAKEN, MadeUpCluster

PAGE = "It.\n\n## Why it breaks\nx\n## Fix\nx\n## Verify\nx\n"


def facts(**options: list[str]) -> FactTable:
    return FactTable(collect([Pods], MadeUpCluster(**options), tool="test", taken=TAKEN))  # type: ignore[arg-type]


def made(function: Callable[..., Iterator[Finding]]) -> Check:
    function.__doc__ = PAGE
    return check(id="TEST001", area=Area.NODES, severity=Severity.MEDIUM, since="0.1")(function)


def one(function: Callable[..., Iterator[Finding]], **options: list[str]) -> Finding:
    (finding,) = ask(made(function), facts(**options), {}, seconds=0.3)
    return finding


def test_a_check_is_not_called_when_its_fact_is_unknown() -> None:
    def thing(pods: Pods) -> Iterator[Finding]:
        raise AssertionError("called")

    finding = one(thing, denied=["pods"])
    assert finding.unknown is not None
    assert finding.unknown.why is Why.FORBIDDEN


def test_a_check_that_takes_unknown_gets_it() -> None:
    def thing(pods: Pods | Unknown) -> Iterator[Finding]:
        yield ok("handled" if isinstance(pods, Unknown) else "seen")

    assert one(thing, denied=["pods"]).summary == "handled"


def silent(pods: Pods) -> Iterator[Finding]:
    yield from ()


def raising(pods: Pods) -> Iterator[Finding]:
    yield ok("so far so good")
    raise ValueError("oh")


def hanging(pods: Pods) -> Iterator[Finding]:
    time.sleep(30)
    yield ok("late")


def shouting(pods: Pods) -> Iterator[Finding]:
    yield fail("worse than declared", severity=Severity.CRITICAL)


def babbling(pods: Pods) -> Iterator[Finding]:
    yield "words"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (silent, "said nothing"),
        (raising, "ValueError: oh"),
        (hanging, "within 0.3 seconds"),
        (shouting, "worse than its own"),
        (babbling, "not a finding"),
    ],
)
def test_a_check_that_misbehaves_is_unknown_broken_and_named(
    function: Callable[..., Iterator[Finding]], says: str
) -> None:
    finding = one(function)
    assert finding.state is State.UNKNOWN
    assert finding.unknown is not None
    assert finding.unknown.why is Why.BROKEN
    assert says in finding.summary
    assert "TEST001" in finding.summary


def test_options_reach_the_check() -> None:
    def thing(pods: Pods, *, bound: int = 1) -> Iterator[Finding]:
        yield ok(f"bound {bound}")

    (finding,) = ask(made(thing), facts(), {"bound": 7})
    assert finding.summary == "bound 7"
