"""Dimensions: what can run out, how it grows, and the node count at which it does."""

from enum import StrEnum

import msgspec


class Growth(StrEnum):
    """How the load on a dimension follows the size of the cluster."""

    FIXED = "fixed"
    LINEAR = "linear"
    PODS = "pods"
    QUADRATIC = "quadratic"
    WALL = "wall"


class LimitKind(StrEnum):
    """What kind of end it is."""

    HARD = "hard"
    CONFIGURED = "configured"
    LATENCY = "latency"
    CAPACITY = "capacity"
    ENVELOPE = "envelope"


class SourceClass(StrEnum):
    """Class of a threshold: who says so."""

    HARD = "hard"
    OFFICIAL = "official"
    TESTED = "tested"
    ALERT = "alert"
    FIELD = "field"
    OURS = "ours"


class Confidence(StrEnum):
    """How far a projected limit can be trusted. Follows from evidence by the rule in scoring.md."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Dimension(msgspec.Struct, frozen=True):
    """Something of which there is only so much.

    ``runs_out`` is the clause of the headline ("Pod addresses run out"); ``title`` its short name
    in tables ("Pod addresses"). ``basis`` is the class of the threshold. ``guidance`` marks a
    threshold that is advice (another provider's table, a rule of thumb): never worse than a
    medium warning.
    """

    name: str
    unit: str
    grows: Growth = Growth.LINEAR
    title: str = ""
    runs_out: str = ""
    kind: LimitKind = LimitKind.HARD
    basis: SourceClass = SourceClass.HARD
    guidance: bool = False


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a dimension is used today, and how much there is.

    ``used`` and ``limit`` are in the dimension's unit; ``constant`` is the share of ``used`` that
    does not grow. ``reach`` is set where the node count of the wall is known by itself.
    """

    dimension: Dimension
    used: float
    limit: float
    constant: float = 0.0
    reach: int | None = None
    spread: float = 0.0


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """A projected end: the node count at which a dimension binds.

    ``nodes`` is null where the dimension does not follow the node count, or was not seen (then
    ``used`` and ``limit`` are null too and the confidence is "none").
    """

    check: str
    dimension: str
    title: str
    subject: str
    nodes: int | None
    low: int | None
    high: int | None
    kind: LimitKind
    confidence: Confidence
    used: float | None
    limit: float | None
    unit: str
    grows: Growth = Growth.LINEAR
    basis: SourceClass = SourceClass.HARD
    runs_out: str = ""
    points: int | None = None
