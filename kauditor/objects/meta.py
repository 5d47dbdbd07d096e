"""What all objects carry, and how pages of them are decoded."""

from typing import Any, Generic, TypeVar

import msgspec

View = TypeVar("View")


class Struct(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Base of all views."""


class OwnerReference(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """The controller of an object."""

    kind: str = ""
    name: str = ""
    controller: bool = False


class Meta(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``metadata``. Annotations are read only where a view asks for them."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None
    creation_timestamp: str | None = None

    def label(self, key: str) -> str:
        """The label's value, "" where it is not set."""
        return (self.labels or {}).get(key, "")


class AnnotatedMeta(Meta, frozen=True, gc=False, rename="camel", kw_only=True):
    """``metadata`` with annotations, for kinds whose annotations are configuration."""

    annotations: dict[str, str] | None = None

    def annotation(self, key: str) -> str:
        """The annotation's value, "" where it is not set."""
        return (self.annotations or {}).get(key, "")


class LabelSelector(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A label selector; empty in both parts means everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[dict[str, Any]] | None = None

    @property
    def empty(self) -> bool:
        """True when it selects everything."""
        return not self.match_labels and not self.match_expressions


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """``metadata`` of a list."""

    resource_version: str = ""
    remaining_item_count: int | None = None


class ObjectList(msgspec.Struct, Generic[View], frozen=True):
    """One page of a list.

    A server writes ``items`` even where there are none; an answer without it is no list.
    """

    metadata: ListMeta = ListMeta()
    items: list[View] | msgspec.UnsetType | None = msgspec.UNSET


def quantity(text: str | int | float | None) -> float:
    """A Kubernetes quantity as a number: "500m" → 0.5, "2Gi" → 2147483648, "" → 0.

    Source: the serialisation format of resource.Quantity in the Kubernetes API reference.

    Raises:
        ValueError: it is no quantity.
    """
    if text is None or text == "":
        return 0.0
    if isinstance(text, (int, float)):
        return float(text)
    for suffix, factor in _SUFFIXES:
        if text.endswith(suffix):
            return float(text[: -len(suffix)]) * factor
    return float(text)


_SUFFIXES = (
    ("Ki", 2.0**10),
    ("Mi", 2.0**20),
    ("Gi", 2.0**30),
    ("Ti", 2.0**40),
    ("Pi", 2.0**50),
    ("Ei", 2.0**60),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
)
