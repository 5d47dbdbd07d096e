"""NODE001: pods against what a cluster, and a node, is tested for."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Dimension,
    Finding,
    Growth,
    LimitKind,
    PodRoom,
    Pods,
    Provider,
    Scale,
    Severity,
    SourceClass,
    Unknown,
    check,
    measure,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

PODS = Dimension(
    "pods",
    unit="pods",
    grows=Growth.PODS,
    title="Pods",
    runs_out="The envelope for pods is reached",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.OFFICIAL,
)
MOST_PODS = 150_000
PROVIDERS_MOST = {"gke": 200_000, "aks": 200_000}
MOST_ON_A_NODE = 110
PODS_PER_CORE = 10
PROVIDERS_MOST_ON_A_NODE = {"gke": 256, "aks": 250, "openshift": 250}


@check(
    id="NODE001",
    area=Area.NODES,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/thresholds.md",
        "https://kubernetes.io/docs/setup/best-practices/cluster-large/",
        "https://cloud.google.com/kubernetes-engine/docs/concepts/planning-large-clusters",
    ),
    effort="half a day",
    risk="medium",
)
def pod_envelope(
    pods: Pods | Unknown,
    room: PodRoom | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    density_from_nodes: int = 500,
    share_percent: float = 5.0,
) -> Iterator[Finding]:
    """Kubernetes is tested with 150,000 pods, and with min(110, 10 × cores) of them on a node.

    ## Why it breaks
    Every pod is a row in etcd, an endpoint, an address, and a stream of status writes; finished
    pods are rows too. The published envelope is 150,000 pods in all, and on one node 110 or ten
    for each core, whichever is less. GKE and AKS publish 200,000. Beyond it nothing breaks at
    once, but nobody has promised that it works.

    ## Fix
    Delete finished pods sooner, or split the cluster before the target is reached.

    ```yaml
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: report
    spec:
      ttlSecondsAfterFinished: 600
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: report
              image: registry.example/report:1
    ```

    ## Verify
    ```shell
    kubectl get --raw '/api/v1/pods?limit=1' | grep -o '"remainingItemCount":[0-9]*'
    ```
    """
    known = provider.name if isinstance(provider, Provider) else ""
    if isinstance(pods, Unknown):
        yield unknown(pods, subject="pods")
    else:
        most = PROVIDERS_MOST.get(known, MOST_PODS)
        yield measure(
            PODS,
            subject="pods",
            used=pods.total,
            limit=most,
            summary=f"{pods.total:,} of {most:,} pods.",
            evidence=[
                seen("pods", pods.total, pods),
                seen("finished among them", pods.finished, pods),
            ],
        )
    yield _density(room, known, scale, density_from_nodes, share_percent)


def _density(
    room: PodRoom | Unknown, provider: str, scale: Scale, from_nodes: int, share: float
) -> Finding:
    subject = "pods on a node"
    if isinstance(room, Unknown):
        return unknown(room, subject=subject)
    if not room.nodes:
        return skip(
            "No worker node says how many pods it takes.",
            subject=subject,
            evidence=[seen("nodes with slots for pods", 0, room)],
        )
    fixed = PROVIDERS_MOST_ON_A_NODE.get(provider)
    above = sum(
        held > (fixed or min(MOST_ON_A_NODE, PODS_PER_CORE * cores or MOST_ON_A_NODE))
        for held, _, cores in room.used
    )
    rule = f"{fixed}" if fixed else f"min({MOST_ON_A_NODE}, {PODS_PER_CORE} × cores)"
    evidence = [
        seen(f"nodes above {rule} pods", above, room),
        seen("nodes", room.nodes, room),
        seen("most pods on a node", max(held for held, _, _ in room.used), room),
    ]
    summary = f"{above:,} of {room.nodes:,} nodes hold more than {rule} pods."
    if scale.target >= from_nodes and above * 100 > share * room.nodes:
        return warn(summary, subject=subject, severity=Severity.MEDIUM, evidence=evidence)
    return ok(summary, subject=subject, evidence=evidence)
