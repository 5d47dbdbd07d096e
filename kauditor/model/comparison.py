"""What changed between two reports. `kauditor.compare` makes it; gate and renderers read it."""

from enum import StrEnum

import msgspec

from kauditor.model.check import Area
from kauditor.model.finding import Severity, State


class Word(StrEnum):
    """What became of one finding, worst news first.

    A failure that can't be seen any more is never fixed, and one that somebody accepted is not
    either: each has a word of its own.
    """

    NEW = "new"
    WORSE = "worse"
    NO_LONGER_SEEN = "no-longer-seen"
    WAIVED = "waived"
    BETTER = "better"
    FIXED = "fixed"
    UNCHANGED = "unchanged"


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A finding in one of the two reports. ``nodes`` is its limit, null where it has none."""

    state: State
    severity: Severity
    nodes: int | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One finding in both reports; ``old`` or ``new`` is null where that report has none.

    ``fell`` says that its limit fell by more than 5 %: a finding can be new because of that.
    """

    word: Word
    check: str
    name: str
    area: Area
    subject: str
    dimension: str
    summary: str
    old: Side | None
    new: Side | None
    fell: bool = False


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that rose or fell by more than 5 %, whether or not it is a finding. In nodes."""

    check: str
    dimension: str
    title: str
    subject: str
    old: int
    new: int


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two reports, in short. ``first_limit`` in nodes."""

    taken: str
    cluster: str
    headline: str
    score: int | None
    grade: str | None
    coverage: int
    first_limit: int | None
    nodes: int | None
    target: int | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two reports, finding by finding. ``notes`` say what makes them hard to compare."""

    old: Moment
    new: Moment
    counts: dict[str, int]
    changes: tuple[Change, ...]
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()
