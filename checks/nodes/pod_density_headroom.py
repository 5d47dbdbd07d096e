"""NODE002: nodes whose places for pods run out."""

from collections.abc import Iterator

from kauditor.api import Area, Evidence, Finding, PodRoom, Severity, check, ok, seen, skip, warn

HIGH_WATER = 0.85
ALERT = 0.95


@check(
    id="NODE002",
    area=Area.NODES,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://github.com/kubernetes-monitoring/kubernetes-mixin/blob/master/alerts/kubelet.libsonnet",
        "https://kubernetes.io/docs/setup/best-practices/cluster-large/",
    ),
    effort="half a day",
    risk="medium",
)
def pod_density_headroom(room: PodRoom, *, share_percent: float = 10.0) -> Iterator[Finding]:
    """Nodes are full by the number of pods, whatever cores and memory they have left.

    ## Why it breaks
    A kubelet takes no more pods than its `maxPods`, 110 by default. Where nodes stand above 85 %
    of it, the pods of one that is lost find no place on the others, and the autoscaler buys
    machines whose cores stay idle. The upstream alert fires at 95 %.

    ## Fix
    Raise maxPods together with the node's block of addresses, or run more nodes.

    ```shell
    # in the kubelet's configuration file of each node, /var/lib/kubelet/config.yaml
    maxPods: 220
    ```

    ## Verify
    ```shell
    kubectl get nodes -o custom-columns=NODE:.metadata.name,PODS:.status.allocatable.pods
    ```
    """
    if not room.nodes:
        yield skip(
            "No worker node says how many pods it takes.",
            evidence=[seen("nodes with slots for pods", 0, room)],
        )
        return
    full = sum(held > HIGH_WATER * slots for held, slots, _ in room.used)
    brim = sum(held > ALERT * slots for held, slots, _ in room.used)
    evidence = [
        seen("nodes above 85 %", full, room),
        seen("nodes above 95 %", brim, room),
        seen("pods and slots of all nodes", f"{room.pods:,} of {room.slots:,}", room),
        *(
            Evidence(
                what="pods",
                value=f"{one.pods:,} of {one.slots:,}",
                source=f"node {one.name}",
            )
            for one in room.fullest[:3]
        ),
    ]
    summary = f"{full:,} of {room.nodes:,} nodes hold more than 85 % of the pods that they take."
    if full * 100 > share_percent * room.nodes:
        yield warn(summary, evidence=evidence)
    else:
        yield ok(summary, evidence=evidence)
