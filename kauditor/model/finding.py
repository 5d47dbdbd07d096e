"""What a check yields: a measured load, a verdict, a skip or an unknown."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec

from kauditor.model.dimension import Dimension, Load
from kauditor.model.fact import Evidence, Fact, Seen, Unknown, Why


class Severity(StrEnum):
    """How bad a failure is, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


SEVERITY_ORDER = tuple(Severity)


class State(StrEnum):
    """Outcome of one result."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not-applicable"
    WAIVED = "waived"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of a check about one subject.

    ``state`` is empty for a load: the projection decides it. ``severity`` overrides the check's.
    """

    state: State | None
    summary: str
    subject: str = ""
    severity: Severity | None = None
    evidence: tuple[Evidence, ...] = ()
    load: Load | None = None
    unknown: Unknown | None = None
    fix: str = ""


def measure(
    dimension: Dimension,
    *,
    used: float,
    limit: float,
    summary: str,
    subject: str = "",
    evidence: Iterable[Evidence] = (),
    constant: float = 0.0,
    reach: int | None = None,
    spread: float = 0.0,
    fix: str = "",
) -> Finding:
    """A load on a dimension; its state and severity follow from the projection.

    ``used`` and ``limit`` are in the dimension's unit. ``constant`` is the part of ``used`` that
    does not grow. ``reach`` gives the node count of the wall where it is known directly.
    ``spread`` is the relative uncertainty of the load, 0.2 meaning 20 % either way.
    """
    load = Load(
        dimension=dimension, used=used, limit=limit, constant=constant, reach=reach, spread=spread
    )
    return Finding(
        state=None,
        summary=summary,
        subject=subject,
        evidence=tuple(evidence),
        load=load,
        fix=fix,
    )


def fail(
    summary: str,
    *,
    subject: str = "",
    severity: Severity | None = None,
    evidence: Iterable[Evidence] = (),
    fix: str = "",
) -> Finding:
    """The fault is there."""
    return Finding(
        state=State.FAIL,
        summary=summary,
        subject=subject,
        severity=severity,
        evidence=tuple(evidence),
        fix=fix,
    )


def warn(
    summary: str,
    *,
    subject: str = "",
    severity: Severity | None = None,
    evidence: Iterable[Evidence] = (),
    fix: str = "",
) -> Finding:
    """The fault is near, or there in a form that does not bite yet."""
    return Finding(
        state=State.WARN,
        summary=summary,
        subject=subject,
        severity=severity,
        evidence=tuple(evidence),
        fix=fix,
    )


def ok(summary: str, *, subject: str = "", evidence: Iterable[Evidence] = ()) -> Finding:
    """Looked, and found in order. A pass has to be said: silence is unknown."""
    return Finding(state=State.PASS, summary=summary, subject=subject, evidence=tuple(evidence))


def skip(summary: str, *, subject: str = "", evidence: Iterable[Evidence] = ()) -> Finding:
    """The question does not apply here, and there is evidence that it does not."""
    return Finding(
        state=State.NOT_APPLICABLE, summary=summary, subject=subject, evidence=tuple(evidence)
    )


def unknown(
    unknown: Unknown | None = None,
    *,
    why: Why = Why.NOT_IN_API,
    summary: str = "",
    lift: str = "",
    subject: str = "",
    evidence: Iterable[Evidence] = (),
) -> Finding:
    """The question could not be answered. Pass the `Unknown` on, or say why in words."""
    hole = unknown or Unknown(why=why, detail=summary, lift=lift)
    return Finding(
        state=State.UNKNOWN,
        summary=summary or hole.detail,
        subject=subject,
        unknown=hole,
        evidence=tuple(evidence),
    )


def seen(what: str, value: Any, fact: Fact, *, how: Seen | None = None) -> Evidence:
    """A row of evidence that was read where `fact` was read."""
    return Evidence(
        what=what,
        value=in_words(value),
        source=fact.origin.read_from,
        seen=how or fact.origin.seen,
    )


def in_words(value: Any) -> str:
    """A value as a reader wants it: 5,000 and 2.0 GiB's caller aside, "none" for nothing."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    return str(value)


def in_bytes(count: float) -> str:
    """2147483648 → "2.0 GiB"."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
