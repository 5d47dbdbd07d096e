"""How many security identities Cilium holds."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Count


class CiliumIdentities(Fact, frozen=True, kw_only=True):
    """One for every distinct set of identity-relevant labels."""

    count: int


@tallies(CiliumIdentities, Count("cilium.io/v2", "ciliumidentities"))
class CiliumIdentityTally:
    """Takes the count."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """Take it."""
        self.count = count

    def total(self) -> CiliumIdentities:
        """The count."""
        return CiliumIdentities(count=self.count)
