"""How large the cluster is, and how large it is to be."""

from kauditor.model.fact import Fact


class Scale(Fact, frozen=True, kw_only=True):
    """Nodes today, the target, and pods per node; filled in by the scan, never read.

    ``pods_per_node`` counts unfinished pods, DaemonSets included; null where pods were not read.
    """

    nodes: int
    target: int
    pods_per_node: float | None = None

    @property
    def target_pods(self) -> float | None:
        """Pods at the target."""
        return None if self.pods_per_node is None else self.target * self.pods_per_node
