"""Results: a finding with its check's name on it, decided."""

import msgspec

from kauditor.model.check import Area
from kauditor.model.fact import Evidence, Why
from kauditor.model.finding import Severity, State


class Waived(msgspec.Struct, frozen=True, kw_only=True):
    """Who accepted a finding, why and until when (ISO date; from that day it counts again).

    ``was`` is the state it would have without the waiver.
    """

    until: str
    reason: str
    owner: str
    was: State = State.FAIL


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report.

    ``reason`` is a word of `Why` for an unknown, else null; ``summary`` is always a sentence.
    ``nodes`` is the projected limit of a capacity result. ``lift`` says what would answer an
    unknown. ``title``, ``why``, ``fix`` and ``verify`` come from the check's page.
    """

    check: str
    name: str
    area: Area
    severity: Severity
    state: State
    reason: Why | None
    subject: str
    summary: str
    evidence: tuple[Evidence, ...]
    references: tuple[str, ...]
    fix: str
    title: str = ""
    why: str = ""
    verify: str = ""
    lift: str = ""
    grant: str = ""
    nodes: int | None = None
    dimension: str = ""
    capacity: bool = False
    waived: Waived | None = None
