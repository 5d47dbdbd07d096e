"""STOR001: volumes attached to a node near the driver's limit."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    AttachSlots,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Seen,
    Severity,
    SourceClass,
    check,
    measure,
    seen,
    skip,
)

SLOTS = Dimension(
    "volume-attach-slots",
    unit="volumes on one node",
    grows=Growth.FIXED,
    title="Volume attach slots",
    runs_out="Volume attach slots run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)


@check(
    id="STOR001",
    area=Area.STORAGE,
    severity=Severity.HIGH,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/storage/storage-limits/",),
    effort="1 day",
    risk="low",
)
def attach_limit_headroom(slots: AttachSlots) -> Iterator[Finding]:
    """A node can attach only so many volumes; the next pod with a volume stays pending.

    ## Why it breaks
    Each storage driver reports how many volumes a node can attach: 39 for EBS on many machines,
    25 on others, 16 or 64 on Azure. The limit does not move with the size of the cluster but with
    the density of stateful pods, so packing nodes tighter meets it first.

    ## Fix
    Spread stateful pods over more nodes, or use machine types with more slots.

    ## Verify
    ```shell
    kubectl get csinodes -o custom-columns='NODE:.metadata.name,SLOTS:.spec.drivers[*].allocatable.count'
    ```
    """
    if not slots.drivers:
        yield skip(
            "No storage driver reports an attach limit.",
            evidence=[seen("drivers without a limit", ", ".join(slots.without_count), slots)],
        )
        return
    for driver in slots.drivers:
        evidence = [
            Evidence(
                what=f"attached to {driver.node}",
                value=f"{driver.used:,} volumes",
                source="VolumeAttachments",
            ),
            Evidence(
                what=f"slots of {driver.node}",
                value=f"{driver.slots:,}",
                source=f"CSINode {driver.node}",
                seen=Seen.DECLARED,
            ),
            Evidence(
                what="all nodes",
                value=f"{driver.attached:,} of {driver.total_slots:,} slots on {driver.nodes:,} nodes",
                source=slots.origin.read_from,
            ),
        ]
        yield measure(
            SLOTS,
            subject=driver.driver,
            used=driver.used,
            limit=driver.slots,
            summary=(
                f"The fullest node has {driver.used:,} of {driver.slots:,} volumes "
                f"of {driver.driver} attached."
            ),
            evidence=evidence,
        )
