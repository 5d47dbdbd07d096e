"""STOR013: more volumes and claims than a cluster of this size should hold."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Claims,
    Dimension,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Severity,
    SourceClass,
    Volumes,
    check,
    measure,
    seen,
)

VOLUMES = Dimension(
    "volumes-and-claims",
    unit="objects",
    grows=Growth.PODS,
    title="Volumes and claims",
    runs_out="Room for volumes and claims runs out",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.FIELD,
    guidance=True,
)
# (nodes, volumes or claims) of the only published table by size [CCE]; it ends at 2,000 nodes.
TABLE = ((50, 500), (200, 2_000), (1_000, 10_000), (2_000, 20_000))


@check(
    id="STOR013",
    area=Area.STORAGE,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",),
    effort="1 day",
    risk="low",
)
def pv_pvc_count(volumes: Volumes, claims: Claims, nodes: Nodes) -> Iterator[Finding]:
    """Volumes and claims grow with stateful pods, and the controllers walk all of them.

    ## Why it breaks
    Binding, attaching and their caches cost for each volume and claim. The one published table by
    cluster size allows ten for each node, and 20,000 at its end of 2,000 nodes. It is one
    provider's table: guidance elsewhere, never a failure.

    ## Fix
    Delete volumes that nobody claims, and use ephemeral or local storage for scratch data.

    ```shell
    kubectl get pv --no-headers | grep -E 'Released|Failed'
    ```

    ## Verify
    ```shell
    kubectl get pvc --all-namespaces --no-headers | wc -l
    ```
    """
    for subject, count, fact in (
        ("PersistentVolumeClaims", claims.count, claims),
        ("PersistentVolumes", volumes.count, volumes),
    ):
        allowed = allowed_at(nodes.count)
        # Within its size the table grows as the objects do; only its end is a wall.
        limit = allowed if count > allowed else TABLE[-1][1]
        yield measure(
            VOLUMES,
            subject=subject,
            used=count,
            limit=limit,
            summary=(
                f"There are {count:,} {subject}; the table allows {allowed:,.0f} "
                f"at {nodes.count:,} nodes and ends at {TABLE[-1][1]:,}."
            ),
            evidence=[seen(subject, count, fact), seen("nodes", nodes.count, nodes)],
        )


def allowed_at(nodes: int) -> float:
    """What the table allows at a number of nodes, straight between its rows."""
    lower = (0, 0)
    for row in TABLE:
        if nodes <= row[0]:
            share = (nodes - lower[0]) / (row[0] - lower[0])
            return lower[1] + share * (row[1] - lower[1])
        lower = row
    return TABLE[-1][1]
