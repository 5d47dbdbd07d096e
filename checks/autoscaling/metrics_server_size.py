"""AS024: metrics-server's memory against the nodes it watches."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Scale,
    Seen,
    Severity,
    SourceClass,
    check,
    in_bytes,
    measure,
    ok,
    seen,
    skip,
)

MEMORY = Dimension(
    "metrics-server-memory",
    unit="nodes",
    grows=Growth.WALL,
    title="metrics-server memory",
    runs_out="metrics-server's memory runs out",
    kind=LimitKind.CAPACITY,
    basis=SourceClass.OFFICIAL,
)
MIB = 2**20
# 200 MiB serve 100 nodes; each node more takes 2 MiB [MS].
BASE_MIB, BASE_NODES, MIB_PER_NODE = 200, 100, 2


@check(
    id="AS024",
    area=Area.AUTOSCALING,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes-sigs/metrics-server",
        "https://github.com/kubernetes-sigs/metrics-server/issues/401",
    ),
    effort="10 minutes",
    risk="low",
)
def metrics_server_size(add_ons: AddOns, nodes: Nodes, scale: Scale) -> Iterator[Finding]:
    """metrics-server needs 2 MiB more for each node above 100, and its limit does not grow.

    ## Why it breaks
    When it is killed for memory, every HorizontalPodAutoscaler goes blind at the moment when load
    is high. Its documentation gives 100m of CPU and 200 MiB up to 100 nodes, and 1m and 2 MiB for
    each further node. An older rule, measured in 2020, was 40 MiB and 4 MiB a node.

    ## Fix
    Raise its memory limit to 200 MiB and 2 MiB for each node above 100 at the target.

    ## Verify
    ```shell
    kubectl -n kube-system get deployment metrics-server -o yaml | grep -A4 limits
    ```
    """
    servers = add_ons.role("metrics-server")
    if not servers:
        yield skip(
            "No metrics-server is among the Deployments.",
            evidence=[seen("Deployments", add_ons.deployments, add_ons)],
        )
        return
    server = servers[0]
    limit = server.memory_limit_bytes
    needed = BASE_MIB + MIB_PER_NODE * max(0, scale.target - BASE_NODES)
    evidence = [
        Evidence(
            what="memory limit",
            value=in_bytes(limit) if limit else "not set",
            source=server.subject,
            seen=Seen.DECLARED,
        ),
        seen("nodes", nodes.count, nodes),
    ]
    if not limit:
        yield ok(
            f"metrics-server has no memory limit; {scale.target:,} nodes need {needed:,} MiB.",
            subject=server.subject,
            evidence=evidence,
        )
        return
    spare = limit / MIB - BASE_MIB
    reach = BASE_NODES + spare / MIB_PER_NODE if spare >= 0 else BASE_NODES * limit / MIB / BASE_MIB
    yield measure(
        MEMORY,
        subject=server.subject,
        used=nodes.count,
        limit=int(reach),
        summary=(
            f"metrics-server may take {in_bytes(limit)}; by its current rule of 2 MiB a node "
            f"{scale.target:,} nodes need {needed:,} MiB."
        ),
        evidence=evidence,
    )
