"""STOR002: a storage driver that reports no attach limit."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    AttachingDrivers,
    CsiNodes,
    Finding,
    Severity,
    check,
    ok,
    seen,
    skip,
    warn,
)


@check(
    id="STOR002",
    area=Area.STORAGE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/storage/storage-limits/",),
    effort="1 hour",
    risk="low",
)
def csinode_allocatable_missing(nodes: CsiNodes, drivers: AttachingDrivers) -> Iterator[Finding]:
    """A driver that attaches volumes reports no limit, so the scheduler takes it as unbounded.

    ## Why it breaks
    Without a count in the CSINode the scheduler places pods with volumes on a node as long as
    there is CPU. The cloud then refuses the attachment, and the pods hang in ContainerCreating.
    Drivers that need no attachment (network file systems) are exempt.

    ## Fix
    Upgrade the driver to a version that reports `allocatable.count` for its nodes.

    ## Verify
    ```shell
    kubectl get csinodes -o yaml | grep -B2 -A3 allocatable
    ```
    """
    found = False
    for driver, slots in nodes.slots.items():
        without = [node for node, count in slots.items() if count is None]
        # A driver without a CSIDriver object attaches by default.
        if driver in drivers.without_attaching or not without:
            continue
        found = True
        yield warn(
            f"{driver} reports no attach limit on {len(without):,} of {len(slots):,} nodes.",
            subject=driver,
            evidence=[
                seen("nodes without a count", len(without), nodes),
                seen("attachRequired", True, drivers),
            ],
        )
    if found:
        return
    if not set(nodes.slots) - set(drivers.without_attaching):
        yield skip(
            "No driver that attaches volumes is registered on the nodes.",
            evidence=[seen("drivers on nodes", ", ".join(nodes.slots), nodes)],
        )
    else:
        yield ok(
            "Every driver that attaches volumes reports its limit.",
            evidence=[seen("drivers on nodes", ", ".join(nodes.slots), nodes)],
        )
