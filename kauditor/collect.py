"""Reads what the chosen checks ask for: each source once, added up as it streams, then dropped."""

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from kauditor.model.fact import Fact, Origin, Tallied, Tally, Unknown, Why, leaf_facts
from kauditor.model.snapshot import Snapshot
from kauditor.model.source import (
    Cost,
    Count,
    Deadline,
    Exposition,
    Listing,
    Page,
    Question,
    Refusal,
    Source,
)
from kauditor.objects.meta import Meta, ObjectList

# Kinds that can be as many as all the rest together get a lane of their own.
LARGE = frozenset({"pods", "endpointslices"})


class Progress(Protocol):
    """Told how the reading goes. All calls may come from either lane."""

    def started(self, what: str) -> None:
        """Reading of one kind begins."""

    def advanced(self, what: str, objects: int) -> None:
        """So many objects of it were read so far."""

    def finished(self, what: str, objects: int, problem: str) -> None:
        """It is read, or ``problem`` says why not."""


class Quiet:
    """Says nothing."""

    def started(self, what: str) -> None:
        """Nothing."""

    def advanced(self, what: str, objects: int) -> None:
        """Nothing."""

    def finished(self, what: str, objects: int, problem: str) -> None:
        """Nothing."""


class _Reading:
    """One question and the tallies of all facts that want its answer."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.tallies: dict[type[Fact], Tally] = {}
        self.within: list[_Reading] = []
        self.broken: dict[type[Fact], Exception] = {}
        self.objects = 0

    def want(self, fact: type[Fact], make: Callable[[], Tally]) -> None:
        self.tallies[fact] = make()

    def add(self, item: Any, belongs: Callable[[type[Fact]], bool] = lambda fact: True) -> None:
        """Hand one item to every tally; one that raises is set aside, the others go on."""
        for fact, tally in self.tallies.items():
            if fact in self.broken or not belongs(fact):
                continue
            try:
                tally.add(item)
            except Exception as error:
                self.broken[fact] = error

    def restart(self) -> None:
        for fact in self.tallies:
            recipe = fact.recipe
            assert isinstance(recipe, Tallied)
            self.tallies[fact] = recipe.tally()


def collect(
    wanted: Iterable[type[Fact]],
    source: Source,
    *,
    tool: str,
    taken: str,
    namespace: str = "",
    progress: Progress | None = None,
) -> Snapshot:
    """Every tallied fact under ``wanted``, each known or unknown with its reason.

    ``namespace`` limits lists of namespaced objects to one namespace, for facts that bear it; the
    others turn unknown. ``taken`` is RFC 3339. Nothing but KeyboardInterrupt escapes.
    """
    run = _Run(source, progress or Quiet())
    leaves = sorted(
        {leaf for fact in wanted for leaf in leaf_facts(fact)}, key=lambda fact: fact.__name__
    )
    run.plan(leaves, namespace)
    run.read()
    return Snapshot(
        tool=tool,
        taken=taken,
        where=source.where(),
        facts=run.facts,
        cost=run.told(source.cost()),
        notes=tuple(source.notes()),
    )


class _Run:
    def __init__(self, source: Source, progress: Progress) -> None:
        self.source = source
        self.progress = progress
        self.facts: dict[type[Fact], Fact | Unknown] = {}
        self.objects: dict[str, int] = {}
        self.readings: list[_Reading] = []
        self.cut_short = False
        self.unreadable: dict[str, str] = {}

    def plan(self, leaves: list[type[Fact]], namespace: str) -> None:
        """Group facts by question; read a list once where a wider one is read anyway."""
        by_question: dict[object, _Reading] = {}
        families: set[str] = set()
        for fact in leaves:
            recipe = fact.recipe
            if not isinstance(recipe, Tallied):
                continue
            question = recipe.question
            if isinstance(question, Listing) and namespace and question.namespaced:
                narrowed = _narrow(question, namespace)
                if isinstance(narrowed, Unknown):
                    self.facts[fact] = narrowed
                    continue
                question = narrowed
            if isinstance(question, Exposition):
                families.update(question.families)
                reading = by_question.setdefault(Exposition, _Reading(question))
            else:
                reading = by_question.setdefault(question, _Reading(question))
            reading.want(fact, recipe.tally)
        if Exposition in by_question:
            by_question[Exposition].question = Exposition(tuple(sorted(families)))
        self.readings = list(by_question.values())
        wide = {
            (
                reading.question.group_version,
                reading.question.resource,
                reading.question.view,
            ): reading
            for reading in self.readings
            if isinstance(reading.question, Listing) and not reading.question.namespace
        }
        for reading in list(self.readings):
            question = reading.question
            if isinstance(question, Listing) and question.namespace:
                key = (question.group_version, question.resource, question.view)
                if key in wide and not question.metadata_only:
                    wide[key].within.append(reading)
                    self.readings.remove(reading)

    def read(self) -> None:
        """Both lanes at once: large kinds in one, all others in the other, cheap ones first."""
        large = [reading for reading in self.readings if _is_large(reading.question)]
        small = sorted(
            (reading for reading in self.readings if not _is_large(reading.question)),
            key=lambda reading: (isinstance(reading.question, Listing), str(reading.question)),
        )
        lane = threading.Thread(target=self._lane, args=(large,), daemon=True)
        lane.start()
        self._lane(small)
        while lane.is_alive():
            # A join without a time limit would not let Ctrl-C through.
            lane.join(0.2)

    def _lane(self, readings: list[_Reading]) -> None:
        for reading in readings:
            self._answer(reading)

    def _answer(self, reading: _Reading) -> None:
        what = str(reading.question)
        self.progress.started(what)
        problem = self._stream(reading)
        self._settle(reading, problem)
        self.progress.finished(what, reading.objects, problem.detail if problem else "")
        for inner in reading.within:
            if problem is None:
                self._settle(inner, None)
            else:
                # The wider list was refused; the narrow one may still be allowed.
                inner.restart()
                self._answer(inner)

    def _stream(self, reading: _Reading) -> Unknown | None:
        try:
            self._pour(reading)
        except Refusal as refusal:
            return _unknown(refusal, reading.question)
        except Deadline:
            self.cut_short = True
            return Unknown(
                why=Why.UNREACHABLE,
                detail=f"The time for the scan was over before {_title(reading.question)} "
                "was read to its end.",
                lift="Give the scan more time: --timeout.",
            )
        except msgspec.DecodeError as error:
            if isinstance(reading.question, Listing):
                self.unreadable[reading.question.resource] = f"an unreadable answer: {error}"
            return Unknown(
                why=Why.UNREACHABLE,
                detail=f"{_title(reading.question)} answered with something unreadable: {error}.",
                lift="Look for a proxy between here and the API server.",
            )
        return None

    def _pour(self, reading: _Reading) -> None:
        question = reading.question
        if isinstance(question, Listing):
            self._pour_list(reading, question)
        elif isinstance(question, Count):
            reading.add(self.source.count(question))
        elif isinstance(question, Page):
            reading.add(self.source.body(question))
        else:
            families = {fact: _families(fact) for fact in reading.tallies}
            for sample in self.source.samples(question):
                wanted = {fact for fact, names in families.items() if family_of(sample.name, names)}
                reading.add(sample, wanted.__contains__)

    def _pour_list(self, reading: _Reading, listing: Listing) -> None:
        decoder = msgspec.json.Decoder(ObjectList[listing.view])  # type: ignore[name-defined]
        what = str(listing)
        for page in self.source.pages(listing):
            items = _decoded(decoder, page)
            for item in items:
                reading.add(item)
            for within in reading.within:
                namespace = within.question.namespace  # type: ignore[union-attr]
                for item in items:
                    if item.metadata.namespace == namespace:
                        within.add(item)
            reading.objects += len(items)
            self.progress.advanced(what, reading.objects)
        self.objects[listing.resource] = self.objects.get(listing.resource, 0) + reading.objects

    def told(self, cost: Cost) -> Cost:
        """The source's cost, with what only the reader knows: objects, and unreadable answers."""
        kinds = []
        for kind in cost.kinds:
            known = msgspec.structs.replace(kind, objects=self.objects.get(kind.kind, kind.objects))
            if kind.kind in self.unreadable:
                known = msgspec.structs.replace(
                    known, outcome="partial", detail=self.unreadable[kind.kind]
                )
            kinds.append(known)
        return msgspec.structs.replace(cost, kinds=tuple(kinds), cut_short=self.cut_short)

    def _settle(self, reading: _Reading, problem: Unknown | None) -> None:
        for fact, tally in reading.tallies.items():
            error = reading.broken.get(fact)
            if problem is None and error is not None:
                self.facts[fact] = _broken(fact, error)
            else:
                self.facts[fact] = problem or _total(fact, tally, reading.question)


def _total(fact: type[Fact], tally: Tally, question: Question) -> Fact | Unknown:
    try:
        total = tally.total()
    except Exception as error:
        return _broken(fact, error)
    if isinstance(total, Unknown) or total.origin.read_from:
        return total
    return msgspec.structs.replace(total, origin=Origin(f"GET {question.path}"))


def _broken(fact: type[Fact], error: Exception) -> Unknown:
    # A tally is a pack author's code: its fault is named, and the scan goes on.
    return Unknown(
        why=Why.BROKEN,
        detail=f"Adding up {fact.__name__} failed: {type(error).__name__}: {error}.",
        lift="Report it to the author of the pack.",
    )


class _OnlyMeta(msgspec.Struct):
    metadata: Meta = Meta()


def _decoded(decoder: "msgspec.json.Decoder[ObjectList[Any]]", page: bytes) -> list[Any]:
    """The items of a page; the error for a malformed object names it."""
    try:
        items = decoder.decode(page).items
        if items is msgspec.UNSET:
            raise msgspec.DecodeError("it is no list: it has no items")
        return items or []
    except msgspec.ValidationError as error:
        name = ""
        place = re.search(r"items\[(\d+)\]", str(error))
        if place:
            try:
                named = msgspec.json.decode(page, type=ObjectList[_OnlyMeta]).items or []
                meta = named[int(place.group(1))].metadata
                name = f" in {meta.namespace + '/' if meta.namespace else ''}{meta.name}"
            except (msgspec.DecodeError, IndexError):
                name = ""
        raise msgspec.DecodeError(f"{error}{name}") from error


def _is_large(question: Question) -> bool:
    return isinstance(question, Listing) and question.resource in LARGE


def _narrow(listing: Listing, namespace: str) -> Listing | Unknown:
    if listing.namespace:
        return listing
    if listing.narrows:
        return msgspec.structs.replace(listing, namespace=namespace)
    return Unknown(
        why=Why.FORBIDDEN,
        detail=f"The scan was narrowed to namespace {namespace}, and {listing.resource} of the "
        "whole cluster are needed.",
        lift="Scan without -n.",
    )


def _families(fact: type[Fact]) -> frozenset[str]:
    recipe = fact.recipe
    assert isinstance(recipe, Tallied) and isinstance(recipe.question, Exposition)
    return frozenset(recipe.question.families)


def family_of(name: str, families: frozenset[str]) -> str:
    """The family that a sample belongs to, "" for none: a histogram's parts carry a suffix."""
    if name in families:
        return name
    for suffix in ("_bucket", "_sum", "_count"):
        if name.endswith(suffix) and name[: -len(suffix)] in families:
            return name[: -len(suffix)]
    return ""


def _title(question: Question) -> str:
    text = str(question)
    return text if text.startswith("GET") else f"the {text}"


def _unknown(refusal: Refusal, question: Question) -> Unknown:
    why = Why(refusal.why)
    grant = question.grant if why is Why.FORBIDDEN else None
    detail = refusal.detail or f"{_title(question)} was refused."
    lift = refusal.lift
    if grant is not None and not lift:
        lift = f"Allow {grant}: `kauditor rbac` prints the whole role."
    return Unknown(why=why, detail=detail, lift=lift, grant=grant)
