"""Karpenter NodePools: what they may grow to, and what they have."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.karpenter import NodePool
from kauditor.objects.meta import quantity


class NodePoolInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One pool: limits and use by resource, in cores, bytes and counts. No limits is unbounded."""

    name: str
    limits: dict[str, float]
    used: dict[str, float]

    @property
    def nodes(self) -> float:
        """Nodes of the pool, 0 where it does not say."""
        return self.used.get("nodes", 0.0)


class NodePools(Fact, frozen=True, kw_only=True):
    """All NodePools by name."""

    pools: tuple[NodePoolInfo, ...]


@tallies(NodePools, Listing("karpenter.sh/v1", "nodepools", NodePool, namespaced=False))
class NodePoolTally:
    """Notes pools."""

    def __init__(self) -> None:
        self.pools: list[NodePoolInfo] = []

    def add(self, pool: NodePool) -> None:
        """Note one."""
        self.pools.append(
            NodePoolInfo(
                name=pool.metadata.name,
                limits=_amounts(pool.spec.limits),
                used=_amounts(pool.status.resources),
            )
        )

    def total(self) -> NodePools:
        """The pools."""
        return NodePools(pools=tuple(sorted(self.pools, key=lambda pool: pool.name)))


def _amounts(written: dict[str, object] | None) -> dict[str, float]:
    found = {}
    for name, amount in sorted((written or {}).items()):
        if isinstance(amount, (str, int, float)):
            found[name] = quantity(amount)
    return found
