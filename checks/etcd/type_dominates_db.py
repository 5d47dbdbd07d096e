"""ETCD021: one type of object is most of the database."""

from collections.abc import Iterator

from kauditor.api import (
    ApiServerMetrics,
    Area,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Scale,
    Seen,
    Severity,
    SourceClass,
    Why,
    check,
    in_bytes,
    measure,
    ok,
    seen,
    unknown,
    warn,
)

TYPE_BYTES = Dimension(
    "etcd-type-bytes",
    unit="bytes",
    grows=Growth.LINEAR,
    title="Bytes of one type",
    runs_out="One type of object outgrows the database",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.OFFICIAL,
)
# Of all objects of one type [THR].
LIMIT = 1.5e9
# Small objects such as ConfigMaps and Events take about this much [PCP].
BYTES_EACH = 1000
FEW_NODES = 10
# Below this no share of the database means anything.
WORTH_NAMING = 100 * 2**20


@check(
    id="ETCD021",
    area=Area.ETCD,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/thresholds.md",
        "https://github.com/kubernetes/kubernetes/issues/118776",
    ),
    effort="half a day",
    risk="low",
)
def type_dominates_db(
    metrics: ApiServerMetrics, scale: Scale, *, share_percent: float = 50.0
) -> Iterator[Finding]:
    """One type of object makes up most of the database.

    ## Why it breaks
    A list of one type is read whole into the memory of etcd and of the API server, at times
    several times over: when a page of it expires, clients begin again with all of it. Two million
    reports of one policy engine, 5 GB, killed a cluster's etcd in that way. Kubernetes supports
    1.5 GB for one type.

    ## Fix
    Give the owner of these objects a retention, delete in batches, then defragment.

    ```shell
    kubectl get --raw /metrics | grep -E '^apiserver_(resource|storage)_objects' | sort -k2 -g
    ```

    ## Verify
    ```shell
    kubectl get --raw /metrics | grep '^apiserver_resource_size_estimate_bytes' | sort -k2 -g
    ```
    """
    estimated = not metrics.object_bytes
    sizes = metrics.object_bytes or {
        name: count * BYTES_EACH for name, count in metrics.objects.items()
    }
    if not sizes or not sum(sizes.values()):
        yield unknown(
            why=Why.NOT_SERVED,
            summary="The API server's metrics show neither sizes nor counts by type.",
            lift="Kubernetes 1.34 and later show apiserver_resource_size_estimate_bytes.",
        )
        return
    largest = min(sizes, key=lambda name: (-sizes[name], name))
    size, share = sizes[largest], sizes[largest] / sum(sizes.values())
    counted = metrics.objects.get(largest)
    evidence = [
        Evidence(
            what="size" if not estimated else "size at 1 kB an object",
            value=in_bytes(size),
            source=metrics.origin.read_from,
            seen=Seen.ASSUMED if estimated else metrics.origin.seen,
        ),
        seen("share", f"{share:.0%} of all {'objects' if estimated else 'bytes'}", metrics),
    ]
    if counted is not None:
        evidence.append(seen("objects", int(counted), metrics))
    if size < WORTH_NAMING:
        yield ok(
            f"The largest type, {largest}, takes {in_bytes(size)}.",
            subject=largest,
            evidence=evidence,
        )
        return
    yield measure(
        TYPE_BYTES,
        subject=largest,
        used=size,
        limit=LIMIT,
        # Below ten nodes a slope is noise (catalog, trap 5.35).
        constant=size if scale.nodes < FEW_NODES and size < LIMIT else 0.0,
        summary=f"{largest} takes {in_bytes(size)}"
        + (" by its count" if estimated else "")
        + f", {share:.0%} of all; 1.5 GB is supported for one type.",
        evidence=evidence,
    )
    if share * 100 > share_percent and size < LIMIT:
        yield warn(
            f"{largest} alone is {share:.0%} of what the database holds.",
            subject=f"share of {largest}",
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
