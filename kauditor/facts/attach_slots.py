"""Volume attach slots: what each driver allows a node, and what is attached."""

import msgspec

from kauditor.model.fact import Fact, Origin, Seen, derives, tallies
from kauditor.model.source import Listing
from kauditor.objects.node import CsiNode
from kauditor.objects.storage import VolumeAttachment


class CsiNodes(Fact, frozen=True, kw_only=True):
    """``slots``: driver → node → count; null where the driver reports none (unbounded)."""

    slots: dict[str, dict[str, int | None]]


class VolumeAttachments(Fact, frozen=True, kw_only=True):
    """``attached``: driver → node → volumes attached or being attached."""

    attached: dict[str, dict[str, int]]
    count: int


class DriverSlots(msgspec.Struct, frozen=True, kw_only=True):
    """One driver: the node where the fewest slots are left, and how many nodes bound it."""

    driver: str
    node: str
    used: int
    slots: int
    nodes: int
    unbounded_nodes: int
    attached: int
    total_slots: int


class AttachSlots(Fact, frozen=True, kw_only=True):
    """Drivers by name. Drivers that report no count on any node are not in it."""

    drivers: tuple[DriverSlots, ...]
    without_count: tuple[str, ...]


@tallies(CsiNodes, Listing("storage.k8s.io/v1", "csinodes", CsiNode, namespaced=False))
class CsiNodeTally:
    """Notes slots."""

    def __init__(self) -> None:
        self.slots: dict[str, dict[str, int | None]] = {}

    def add(self, node: CsiNode) -> None:
        """Note one node's drivers."""
        for driver in node.spec.drivers or ():
            count = driver.allocatable.count if driver.allocatable else None
            self.slots.setdefault(driver.name, {})[node.metadata.name] = count

    def total(self) -> CsiNodes:
        """The slots."""
        return CsiNodes(
            slots={
                driver: dict(sorted(nodes.items())) for driver, nodes in sorted(self.slots.items())
            }
        )


@tallies(
    VolumeAttachments,
    Listing("storage.k8s.io/v1", "volumeattachments", VolumeAttachment, namespaced=False),
)
class VolumeAttachmentTally:
    """Counts attachments."""

    def __init__(self) -> None:
        self.attached: dict[str, dict[str, int]] = {}
        self.count = 0

    def add(self, attachment: VolumeAttachment) -> None:
        """Count one; an attachment in progress takes its slot already."""
        nodes = self.attached.setdefault(attachment.spec.attacher, {})
        nodes[attachment.spec.node_name] = nodes.get(attachment.spec.node_name, 0) + 1
        self.count += 1

    def total(self) -> VolumeAttachments:
        """The attachments."""
        return VolumeAttachments(
            attached={
                driver: dict(sorted(nodes.items()))
                for driver, nodes in sorted(self.attached.items())
            },
            count=self.count,
        )


@derives
def attach_slots(nodes: CsiNodes, attachments: VolumeAttachments) -> AttachSlots:
    """Joins both; the fullest node of each driver stands for it."""
    drivers = []
    without = []
    for driver, slots in nodes.slots.items():
        bounded = {node: count for node, count in slots.items() if count is not None}
        if not bounded:
            without.append(driver)
            continue
        used = attachments.attached.get(driver, {})
        fullest = max(
            bounded,
            key=lambda node: (used.get(node, 0) / max(bounded[node], 1), used.get(node, 0), node),
        )
        drivers.append(
            DriverSlots(
                driver=driver,
                node=fullest,
                used=used.get(fullest, 0),
                slots=bounded[fullest],
                nodes=len(bounded),
                unbounded_nodes=len(slots) - len(bounded),
                attached=sum(used.values()),
                total_slots=sum(bounded.values()),
            )
        )
    return AttachSlots(
        drivers=tuple(drivers),
        without_count=tuple(without),
        origin=Origin("CSINodes and VolumeAttachments", Seen.MEASURED),
    )
