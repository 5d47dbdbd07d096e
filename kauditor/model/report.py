"""The report: one versioned value of strings and numbers. Its JSON form is the public contract."""

from typing import Any

import msgspec

from kauditor.model.check import Area
from kauditor.model.comparison import Comparison
from kauditor.model.dimension import Limit
from kauditor.model.result import Result
from kauditor.model.source import Cost

SCHEMA = "kauditor.report/v1"


class BadReport(ValueError):
    """A file that is no report of ours, or of a schema that this version does not read."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """Who made the report. ``scoring`` is the version of the scoring model."""

    name: str
    version: str
    scoring: str
    checks: int


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Which cluster. ``nodes`` and ``pods`` are null where they could not be counted."""

    name: str
    context: str
    server: str
    uid: str
    version: str
    provider: str
    nodes: int | None
    pods: int | None
    identity: str = ""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The size that is asked about; ``source`` says who chose it."""

    nodes: int | None
    source: str


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """0 to 100. ``low`` and ``high`` hold what the unknowns could still do. Coverage in percent."""

    value: int | None
    low: int
    high: int
    grade: str | None
    coverage: int


class AreaScore(msgspec.Struct, frozen=True, kw_only=True):
    """One area; ``score`` is null where nothing in it was decided."""

    id: Area
    score: int | None
    low: int
    high: int
    checks: int = 0
    failed: int = 0
    warned: int = 0
    unknown: int = 0
    first_limit: int | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One fix on the way to the target: the limit before it, after it, and what stops you next."""

    check: str
    subject: str
    title: str
    before: int
    after: int | None
    then: str
    effort: str = ""
    risk: str = ""


class GateCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One condition with its value and its bound. ``outcome``: passed, failed or undecided."""

    name: str
    value: str
    bound: str
    outcome: str
    sentence: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """``outcome``: none (no condition set), passed, failed or undecided; with the exit status."""

    outcome: str
    exit: int
    conditions: tuple[GateCondition, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is to say, in the order a reader wants it.

    ``taken`` is when the cluster was read and the only time in it besides the cost. ``notes`` are
    sentences about the scan itself (a list that changed underway, a waiver that matches nothing).
    ``comparison`` is with the baseline, null where none was given.
    """

    schema: str = SCHEMA
    tool: Tool
    taken: str
    cluster: Cluster
    target: Target
    headline: str
    score: Score
    areas: tuple[AreaScore, ...]
    limits: tuple[Limit, ...]
    path: tuple[Step, ...]
    results: tuple[Result, ...]
    cost: Cost
    gate: Gate
    notes: tuple[str, ...] = ()
    comparison: Comparison | None = None


def decode(document: bytes) -> Report:
    """Read a saved report as it was written; its strings are not cleaned again here.

    Within a schema version fields are only added, and each added one has a default: so a report
    that lacks newer fields is read, and fields that this version does not know are passed over.

    Raises:
        BadReport: not JSON, not a report, or another schema; the message is one sentence.
    """
    try:
        head: Any = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReport(f"it is not JSON: {error}") from error
    if not isinstance(head, dict) or "schema" not in head:
        raise BadReport("it has no 'schema': it is not a kauditor report")
    if head["schema"] != SCHEMA:
        raise BadReport(
            f"its schema is {str(head['schema'])[:60]!r}; this version reads {SCHEMA!r}"
        )
    try:
        return msgspec.json.decode(document, type=Report)
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadReport(f"it is damaged: {error}") from error
