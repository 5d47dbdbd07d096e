"""How many pods each node holds, may hold by its kubelet, and should hold by its cores."""

import msgspec

from kauditor.facts.nodes import CONTROL_PLANE_LABELS, NODE_LISTING
from kauditor.facts.pods import Pods
from kauditor.model.fact import Fact, Origin, derives, tallies
from kauditor.objects.meta import quantity
from kauditor.objects.node import Node

# Nodes that are no machines: density means nothing there.
VIRTUAL = (
    ("eks.amazonaws.com/compute-type", "fargate"),
    ("type", "virtual-kubelet"),
    ("kubernetes.azure.com/role", "virtual-kubelet"),
)


class NodeSlots(Fact, frozen=True, kw_only=True):
    """Node → allocatable pods and cores. Virtual nodes are left out."""

    slots: dict[str, tuple[int, float]]


class FullNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node that holds many pods."""

    name: str
    pods: int
    slots: int
    cores: float


class PodRoom(Fact, frozen=True, kw_only=True):
    """Pods and slots of all nodes that say how many pods they take.

    ``used`` gives, for each such node, pods, slots and cores; the name stands in ``fullest`` for
    the five with the highest share only.
    """

    nodes: int
    pods: int
    slots: int
    used: tuple[tuple[int, int, float], ...]
    fullest: tuple[FullNode, ...]


@tallies(NodeSlots, NODE_LISTING)
class NodeSlotTally:
    """Notes slots and cores."""

    def __init__(self) -> None:
        self.slots: dict[str, tuple[int, float]] = {}

    def add(self, node: Node) -> None:
        """Note one node."""
        labels = node.metadata.labels or {}
        if any(labels.get(key) == value for key, value in VIRTUAL):
            return
        if any(label in labels for label in CONTROL_PLANE_LABELS):
            return
        slots = _number((node.status.allocatable or {}).get("pods"))
        cores = _number((node.status.capacity or {}).get("cpu"))
        self.slots[node.metadata.name] = (int(slots), cores)

    def total(self) -> NodeSlots:
        """The slots."""
        return NodeSlots(slots=dict(sorted(self.slots.items())))


@derives
def pod_room(slots: NodeSlots, pods: Pods) -> PodRoom:
    """Both lists joined by the node's name."""
    full = [
        FullNode(name=name, pods=pods.on_nodes.get(name, 0), slots=most, cores=cores)
        for name, (most, cores) in slots.slots.items()
        if most > 0
    ]
    full.sort(key=lambda one: (-one.pods / one.slots, one.name))
    return PodRoom(
        nodes=len(full),
        pods=sum(one.pods for one in full),
        slots=sum(one.slots for one in full),
        used=tuple((one.pods, one.slots, one.cores) for one in full),
        fullest=tuple(full[:5]),
        origin=Origin(f"{slots.origin.read_from} and {pods.origin.read_from}"),
    )


def _number(value: object) -> float:
    try:
        return quantity(value if isinstance(value, (str, int, float)) else None)
    except ValueError:
        return 0.0
