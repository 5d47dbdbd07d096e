"""Which schedulers place pods, and on which nodes two of them meet."""

from kauditor.facts.pods import POD_LISTING
from kauditor.model.fact import Fact, tallies
from kauditor.objects.pod import Pod

MIRROR = "kubernetes.io/config.mirror"
DEFAULT = "default-scheduler"
# A scheduler counts on a node from this share of the node's pods on.
LEAST_SHARE = 0.05
SAMPLE = 5


class Schedulers(Fact, frozen=True, kw_only=True):
    """Unfinished pods by scheduler, without those of DaemonSets and static pods.

    ``shared`` counts nodes on which two or more schedulers hold over 5 % of such pods each.
    """

    pods: dict[str, int]
    nodes: int
    shared: int
    sample: tuple[str, ...]


@tallies(Schedulers, POD_LISTING)
class SchedulerTally:
    """Counts pods by node and scheduler."""

    def __init__(self) -> None:
        self.pods: dict[str, int] = {}
        self.on_nodes: dict[str, dict[str, int]] = {}

    def add(self, pod: Pod) -> None:
        """Count one pod."""
        node = pod.spec.node_name
        if pod.finished or not node or pod.metadata.annotation(MIRROR):
            return
        owners = pod.metadata.owner_references or ()
        if any(owner.controller and owner.kind == "DaemonSet" for owner in owners):
            return
        name = pod.spec.scheduler_name or DEFAULT
        self.pods[name] = self.pods.get(name, 0) + 1
        held = self.on_nodes.setdefault(node, {})
        held[name] = held.get(name, 0) + 1

    def total(self) -> Schedulers:
        """The counts."""
        shared = sorted(
            node
            for node, held in self.on_nodes.items()
            if sum(count > LEAST_SHARE * sum(held.values()) for count in held.values()) > 1
        )
        return Schedulers(
            pods=dict(sorted(self.pods.items())),
            nodes=len(self.on_nodes),
            shared=len(shared),
            sample=tuple(shared[:SAMPLE]),
        )
