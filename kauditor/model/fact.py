"""Facts: what is known about a cluster, whole or unknown, and where it was read."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from types import UnionType
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from kauditor.model.source import Grant, Question


class Why(StrEnum):
    """Why something is unknown. One word each; the sentence stands in ``Unknown.detail``."""

    FORBIDDEN = "forbidden"
    MANAGED = "managed"
    NOT_SERVED = "not-served"
    UNREACHABLE = "unreachable"
    NO_METRICS = "no-metrics"
    NOT_IN_API = "not-in-api"
    STALE = "stale"
    BROKEN = "broken"


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of its own: not a pass, not a failure, but a hole with its reason.

    ``detail`` is a sentence for people. ``lift`` says what would fill the hole, and ``grant`` is
    the RBAC rule to add where a missing right is the reason.
    """

    why: Why
    detail: str
    lift: str = ""
    grant: Grant | None = None


class Seen(StrEnum):
    """How a value came to be known, strongest first."""

    MEASURED = "measured"
    DECLARED = "declared"
    STATED = "stated"
    ASSUMED = "assumed"
    INFERRED = "inferred"


class Origin(msgspec.Struct, frozen=True):
    """Where a fact was read (``GET /api/v1/nodes``, ``pod kube-system/etcd-a --quota…``)."""

    read_from: str
    seen: Seen = Seen.MEASURED


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One row of proof under a finding: what, its value in words, where it was read, and how."""

    what: str
    value: str
    source: str
    seen: Seen = msgspec.field(name="class", default=Seen.MEASURED)


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every fact. A subclass adds fields and is given one recipe by `tallies` or `derives`.

    A fact is whole: a list that broke off gives `Unknown`, never half a fact. It holds counts,
    extremes and the worst few names, at most one entry a node, never the objects themselves.
    """

    origin: Origin = Origin("")
    recipe: ClassVar["Recipe | None"] = None


class Tally(Protocol):
    """Adds up a source as it streams by. One instance a scan."""

    def add(self, item: Any, /) -> None:
        """Take one decoded object (or the whole body, for a `Page`)."""

    def total(self) -> Fact | Unknown:
        """The finished fact. Called once, only after the source was read to its end."""


class Tallied(msgspec.Struct, frozen=True):
    """Recipe of a fact that is added up from one source."""

    question: Question
    tally: Callable[[], Tally]


class Derived(msgspec.Struct, frozen=True):
    """Recipe of a fact that is a pure function of other facts."""

    function: Callable[..., Any]
    needs: tuple["Need", ...]


Recipe = Tallied | Derived


class Need(msgspec.Struct, frozen=True):
    """One parameter of a check or a derived fact: its fact, and whether it takes `Unknown` too."""

    name: str
    fact: type[Fact]
    takes_unknown: bool


class BadSignature(TypeError):
    """A function's parameters do not say which facts they are."""


F = TypeVar("F", bound=Fact)
TallyType = TypeVar("TallyType", bound=Callable[[], Tally])
DerivedFunction = TypeVar("DerivedFunction", bound=Callable[..., Any])


def tallies(fact: type[Fact], question: Question) -> Callable[[TallyType], TallyType]:
    """Make the decorated tally class the way in which `fact` is read from `question`."""

    def attach(tally: TallyType) -> TallyType:
        fact.recipe = Tallied(question, tally)
        return tally

    return attach


def derives(function: DerivedFunction) -> DerivedFunction:
    """Make the decorated function the way in which the fact it returns is worked out."""
    returned = get_type_hints(function).get("return")
    facts = [part for part in _parts(returned) if _is_fact(part)]
    if len(facts) != 1:
        raise BadSignature(f"{function.__qualname__} must return exactly one fact type")
    facts[0].recipe = Derived(function, tuple(needs_of(function)))
    return function


def needs_of(function: Callable[..., Any]) -> Iterator[Need]:
    """The facts that a function's positional parameters ask for, in order.

    Raises:
        BadSignature: a positional parameter is neither a fact nor ``Fact | Unknown``.
    """
    code = function.__code__
    hints = get_type_hints(function)
    for name in code.co_varnames[: code.co_argcount]:
        parts = _parts(hints.get(name))
        facts = [part for part in parts if _is_fact(part)]
        rest = [part for part in parts if not _is_fact(part) and part is not Unknown]
        if len(facts) != 1 or rest:
            raise BadSignature(
                f"parameter {name!r} of {function.__qualname__} must be annotated with one fact, "
                "alone or as `Fact | Unknown`"
            )
        yield Need(name, facts[0], Unknown in parts)


def fact_name(fact: type[Fact]) -> str:
    """``PodsPerNode`` → ``pods-per-node``: the name in snapshots and messages."""
    letters = []
    for position, letter in enumerate(fact.__name__):
        if letter.isupper() and position:
            letters.append("-")
        letters.append(letter.lower())
    return "".join(letters)


def leaf_facts(fact: type[Fact]) -> Iterator[type[Fact]]:
    """The tallied facts under `fact`, itself included where it is one. May repeat."""
    recipe = fact.recipe
    if isinstance(recipe, Derived):
        for need in recipe.needs:
            yield from leaf_facts(need.fact)
    else:
        yield fact


def _parts(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


def _is_fact(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, Fact)
