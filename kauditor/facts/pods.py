"""Pods: how many, in which phase, on which nodes."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.pod import Pod

POD_LISTING = Listing("v1", "pods", Pod)


class Pods(Fact, frozen=True, kw_only=True):
    """All pods. ``on_nodes`` counts unfinished pods a node; nodes without any are not in it.

    ``finished`` pods hold no capacity but are objects like others. ``waiting`` have no node yet,
    without those that a queueing system holds back by a scheduling gate (``gated``).
    """

    total: int
    finished: int
    waiting: int
    gated: int
    daemon: int
    on_nodes: dict[str, int]
    largest_namespace: str
    largest_namespace_pods: int

    @property
    def active(self) -> int:
        """Pods that take a place: neither finished nor gated."""
        return self.total - self.finished - self.gated


@tallies(Pods, POD_LISTING)
class PodTally:
    """Counts pods."""

    def __init__(self) -> None:
        self.total_count = self.finished = self.waiting = self.gated = self.daemon = 0
        self.on_nodes: dict[str, int] = {}
        self.namespaces: dict[str, int] = {}

    def add(self, pod: Pod) -> None:
        """Count one pod."""
        self.total_count += 1
        namespace = pod.metadata.namespace
        self.namespaces[namespace] = self.namespaces.get(namespace, 0) + 1
        if pod.finished:
            self.finished += 1
            return
        owners = pod.metadata.owner_references or ()
        self.daemon += any(owner.controller and owner.kind == "DaemonSet" for owner in owners)
        if pod.spec.node_name:
            node = pod.spec.node_name
            self.on_nodes[node] = self.on_nodes.get(node, 0) + 1
        elif pod.spec.scheduling_gates:
            self.gated += 1
        else:
            self.waiting += 1

    def total(self) -> Pods:
        """The pods."""
        largest = max(self.namespaces.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        return Pods(
            total=self.total_count,
            finished=self.finished,
            waiting=self.waiting,
            gated=self.gated,
            daemon=self.daemon,
            on_nodes=dict(sorted(self.on_nodes.items())),
            largest_namespace=largest[0],
            largest_namespace_pods=largest[1],
        )
