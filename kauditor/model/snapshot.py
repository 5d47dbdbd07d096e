"""A snapshot: the facts of one moment, kept so that a scan can be replayed without a cluster."""

from typing import Any, TypeVar

import msgspec

from kauditor.model.fact import Fact, Unknown, Why, fact_name
from kauditor.model.source import Cost, Where

SCHEMA = "kauditor.snapshot/v1"

F = TypeVar("F", bound=Fact)


class BadSnapshot(ValueError):
    """A file that is no snapshot of ours, or of a schema that this version does not read."""


class Recorded(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact as it is written: known or unknown, never both."""

    known: msgspec.Raw = msgspec.Raw()
    unknown: Unknown | None = None


class SnapshotFile(msgspec.Struct, frozen=True, kw_only=True):
    """The shape on disk."""

    schema: str
    tool: str
    taken: str
    where: Where
    facts: dict[str, Recorded]
    cost: Cost
    notes: tuple[str, ...] = ()


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Facts by type. Only tallied facts are kept; derived ones are worked out again.

    ``taken`` is RFC 3339 in UTC.
    """

    tool: str
    taken: str
    where: Where
    facts: dict[type[Fact], Fact | Unknown]
    recorded: dict[str, Recorded] = {}
    cost: Cost = Cost()
    notes: tuple[str, ...] = ()

    def fact(self, wanted: type[F]) -> F | Unknown:
        """The fact, or why it is not known. Never raises."""
        held = self.facts.get(wanted)
        if held is not None:
            return held  # type: ignore[return-value]
        record = self.recorded.get(fact_name(wanted))
        if record is None:
            return Unknown(
                why=Why.STALE,
                detail=f"The snapshot holds no {fact_name(wanted).replace('-', ' ')}.",
                lift="Collect a new snapshot with this version and these checks.",
            )
        if record.unknown is not None:
            return record.unknown
        try:
            return msgspec.json.decode(bytes(record.known), type=wanted)
        except msgspec.ValidationError as error:
            return Unknown(
                why=Why.STALE,
                detail=f"The snapshot's {fact_name(wanted)} have another shape: {error}.",
                lift="Collect a new snapshot with this version.",
            )


def encode(snapshot: Snapshot) -> bytes:
    """Indented JSON, keys in a steady order."""
    facts = dict(snapshot.recorded)
    for kind, value in snapshot.facts.items():
        if isinstance(value, Unknown):
            facts[fact_name(kind)] = Recorded(unknown=value)
        else:
            facts[fact_name(kind)] = Recorded(known=msgspec.Raw(msgspec.json.encode(value)))
    document = SnapshotFile(
        schema=SCHEMA,
        tool=snapshot.tool,
        taken=snapshot.taken,
        where=snapshot.where,
        facts=dict(sorted(facts.items())),
        cost=snapshot.cost,
        notes=snapshot.notes,
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def decode(document: bytes) -> Snapshot:
    """Read what `encode` wrote.

    Raises:
        BadSnapshot: not JSON, not a snapshot, or another schema; the message is one sentence.
    """
    try:
        head: Any = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadSnapshot(f"it is not JSON: {error}") from error
    if not isinstance(head, dict) or "schema" not in head:
        raise BadSnapshot("it has no 'schema': it is not a kauditor snapshot")
    if head["schema"] != SCHEMA:
        raise BadSnapshot(f"its schema is {head['schema']!r}; this version reads {SCHEMA!r}")
    try:
        read = msgspec.json.decode(document, type=SnapshotFile)
    except msgspec.ValidationError as error:
        raise BadSnapshot(f"it is damaged: {error}") from error
    return Snapshot(
        tool=read.tool,
        taken=read.taken,
        where=read.where,
        facts={},
        recorded=read.facts,
        cost=read.cost,
        notes=read.notes,
    )
