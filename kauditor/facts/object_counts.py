"""How many Events and CustomResourceDefinitions there are, counted without reading them."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Count


class EventCount(Fact, frozen=True, kw_only=True):
    """Events of all namespaces."""

    count: int


class CrdCount(Fact, frozen=True, kw_only=True):
    """CustomResourceDefinitions."""

    count: int


class _CountTally:
    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """Take the number."""
        self.count = count


@tallies(EventCount, Count("v1", "events"))
class EventTally(_CountTally):
    """Takes the number of Events."""

    def total(self) -> EventCount:
        """The number."""
        return EventCount(count=self.count)


@tallies(CrdCount, Count("apiextensions.k8s.io/v1", "customresourcedefinitions"))
class CrdTally(_CountTally):
    """Takes the number of CustomResourceDefinitions."""

    def total(self) -> CrdCount:
        """The number."""
        return CrdCount(count=self.count)
