"""A check: a function whose parameters are its facts, and what is said about it."""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, get_type_hints

import msgspec

from kauditor.model.dimension import Dimension
from kauditor.model.fact import BadSignature, Need, Tallied, leaf_facts, needs_of
from kauditor.model.finding import Finding, Severity
from kauditor.model.source import Question

ID_FORM = re.compile(r"^[A-Z]{2,8}\d{3}$")
SECTIONS = ("Why it breaks", "Fix", "Verify")
FORBIDDEN_STARTS = ("check_", "ensure_", "no_")


class Area(StrEnum):
    """Where a check belongs."""

    SCHEDULER = "scheduler"
    CONTROL_PLANE = "control-plane"
    ETCD = "etcd"
    NETWORK = "network"
    STORAGE = "storage"
    AUTOSCALING = "autoscaling"
    NODES = "nodes"
    WORKLOADS = "workloads"
    OBSERVABILITY = "observability"
    BATCH = "batch"


class Option(msgspec.Struct, frozen=True):
    """A keyword-only parameter of a check: settable in ``kauditor.toml``."""

    name: str
    kind: Any
    default: Any

    @property
    def key(self) -> str:
        """Its key in the settings."""
        return self.name.replace("_", "-")


class CheckPage(msgspec.Struct, frozen=True, kw_only=True):
    """The docstring of a check, cut at its headings. All parts are Markdown."""

    title: str
    why: str
    fix: str
    verify: str

    @property
    def step(self) -> str:
        """The first sentence of the fix: what to do, in one line."""
        first = self.fix.strip().split("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[.:])\s", first)[0].rstrip(".:")


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check, as `check` makes it. ``dimensions`` and ``pack`` are filled in by the loader."""

    id: str
    name: str
    area: Area
    severity: Severity
    since: str
    references: tuple[str, ...]
    function: Callable[..., Iterator[Finding]]
    needs: tuple[Need, ...]
    options: tuple[Option, ...]
    page: CheckPage
    file: str
    line: int
    effort: str = ""
    risk: str = ""
    dimensions: tuple[Dimension, ...] = ()
    pack: str = "built-in"


class BadCheck(ValueError):
    """A check that breaks the form; the message names file, line and what to do."""


def check(
    *,
    id: str,
    area: Area,
    severity: Severity,
    since: str,
    references: tuple[str, ...] = (),
    effort: str = "",
    risk: str = "",
) -> Callable[[Callable[..., Iterator[Finding]]], Check]:
    """Make a function a check.

    Its positional parameters are facts, its keyword-only parameters with defaults are options,
    its docstring is its page. ``severity`` is that of a failure; a load's severity is computed
    from its projected limit. ``effort`` and ``risk`` describe the fix in a word or two.

    Raises:
        BadCheck: the signature, the id or the page breaks the form.
    """

    def make(function: Callable[..., Iterator[Finding]]) -> Check:
        code = function.__code__
        place = f"{code.co_filename}:{code.co_firstlineno}"
        if not ID_FORM.match(id):
            raise BadCheck(f"{place}: id {id!r} must be capital letters and three digits")
        if function.__name__.startswith(FORBIDDEN_STARTS):
            raise BadCheck(f"{place}: name {function.__name__!r} for what it finds, as a noun")
        try:
            needs = tuple(needs_of(function))
        except (BadSignature, NameError) as error:
            raise BadCheck(f"{place}: {error}") from error
        if not needs:
            raise BadCheck(f"{place}: a check asks for at least one fact")
        return Check(
            id=id,
            name=function.__name__.replace("_", "-"),
            area=area,
            severity=severity,
            since=since,
            references=references,
            function=function,
            needs=needs,
            options=tuple(_options(function, place)),
            page=_page(function, place),
            file=code.co_filename,
            line=code.co_firstlineno,
            effort=effort,
            risk=risk,
        )

    return make


def _options(function: Callable[..., Any], place: str) -> Iterator[Option]:
    hints = get_type_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        if parameter.default is inspect.Parameter.empty:
            raise BadCheck(f"{place}: option {parameter.name!r} needs a default")
        yield Option(parameter.name, hints.get(parameter.name, Any), parameter.default)


def _page(function: Callable[..., Any], place: str) -> CheckPage:
    text = inspect.getdoc(function) or ""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    sections = {
        heading.strip(): body.strip()
        for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    missing = [section for section in SECTIONS if not sections.get(section)]
    if missing or not parts[0].strip():
        raise BadCheck(
            f"{place}: the docstring needs a first sentence and the sections "
            + ", ".join(f"'## {section}'" for section in SECTIONS)
        )
    return CheckPage(
        title=" ".join(parts[0].split()),
        why=sections["Why it breaks"],
        fix=sections["Fix"],
        verify=sections["Verify"],
    )


def questions_of(check: Check) -> list[Question]:
    """Every source that the facts of a check are read from."""
    found: dict[str, Question] = {}
    for need in check.needs:
        for leaf in leaf_facts(need.fact):
            if isinstance(leaf.recipe, Tallied):
                found.setdefault(str(leaf.recipe.question), leaf.recipe.question)
    return [found[name] for name in sorted(found)]
