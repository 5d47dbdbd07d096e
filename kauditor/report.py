"""Puts the report together. Everything a cluster said is cleaned here, once."""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from kauditor.model.check import Check
from kauditor.model.clean import LONGEST, clean
from kauditor.model.dimension import Limit
from kauditor.model.finding import State
from kauditor.model.report import Cluster, Gate, Report, Score, Step, Target, Tool, decode
from kauditor.model.result import Result
from kauditor.model.source import Cost

Value = TypeVar("Value")


def headline(limits: Iterable[Limit], target: Target) -> str:
    """The one sentence: what runs out first, and at how many nodes."""
    decided = [limit for limit in limits if limit.nodes is not None]
    unseen = [limit for limit in limits if limit.used is None]
    if not decided:
        return "No limit could be decided: " + (
            "what would show it was not seen." if unseen else "no capacity check applies."
        )
    first = decided[0]
    clause = first.runs_out or f"{first.title} run out"
    if target.nodes is not None and (first.nodes or 0) > target.nodes:
        clause = clause[0].lower() + clause[1:] if clause[1:2].islower() else clause
        return (
            f"Nothing that was seen runs out before {target.nodes:,} nodes; "
            f"{clause} first, at {first.nodes:,}."
        )
    return f"{clause} first, at {first.nodes:,} nodes."


def assemble(
    *,
    tool: Tool,
    taken: str,
    cluster: Cluster,
    target: Target,
    score: Score,
    areas: Iterable[Any],
    limits: tuple[Limit, ...],
    path: tuple[Step, ...],
    results: tuple[Result, ...],
    checks: Iterable[Check],
    cost: Cost,
    gate: Gate,
    notes: Iterable[str] = (),
) -> Report:
    """The report, worst results first within each state, all strings safe to show."""
    standing = tuple(
        limit
        for limit in limits
        if not any(
            result.state is State.WAIVED
            and result.check == limit.check
            and result.subject == limit.subject
            for result in results
        )
    )
    report = Report(
        tool=tool,
        taken=taken,
        cluster=cluster,
        target=target,
        headline=headline(standing, target),
        score=score,
        areas=tuple(areas),
        limits=limits,
        path=path,
        results=tuple(sorted(results, key=_order)),
        cost=cost,
        gate=gate,
        notes=tuple(notes),
    )
    return cleaned(report)


_STATES = (
    State.FAIL,
    State.WARN,
    State.UNKNOWN,
    State.WAIVED,
    State.PASS,
    State.NOT_APPLICABLE,
)


def _order(result: Result) -> tuple[int, int, bool, int, str, str]:
    from kauditor.model.finding import SEVERITY_ORDER

    return (
        _STATES.index(result.state),
        SEVERITY_ORDER.index(result.severity),
        result.nodes is None,
        result.nodes or 0,
        result.check,
        result.subject,
    )


# Prose of check pages keeps its line breaks; everything else is one line.
_PROSE = frozenset({"fix", "why", "verify"})


def read(document: bytes) -> Report:
    """A saved report, safe to show: who wrote the file is not known, so it is cleaned again.

    Raises:
        BadReport: it can't be read; the message is one sentence.
    """
    # What was cut once stays as it is: the note of the cut is part of the string.
    return cleaned(decode(document), longest=LONGEST + 100)


def cleaned(value: Value, *, prose: bool = False, longest: int = LONGEST) -> Value:
    """The same value with every string in it made safe to show."""
    made: Any = value
    if isinstance(value, str) and type(value) is str:
        lines = value.split("\n") if prose else [value]
        made = "\n".join(clean(line, longest) for line in lines)
    elif isinstance(value, tuple):
        made = tuple(cleaned(part, prose=prose, longest=longest) for part in value)
    elif isinstance(value, dict):
        made = {
            cleaned(key, longest=longest): cleaned(part, longest=longest)
            for key, part in value.items()
        }
    elif isinstance(value, msgspec.Struct):
        changed = {
            field: cleaned(getattr(value, field), prose=field in _PROSE, longest=longest)
            for field in value.__struct_fields__
        }
        made = msgspec.structs.replace(value, **changed)
    return made  # type: ignore[no-any-return]
