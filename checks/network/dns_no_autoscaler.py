"""DNS002: nothing adds DNS replicas."""

from collections.abc import Iterator
from math import ceil

from kauditor.api import (
    AddOns,
    Area,
    DaemonSets,
    Evidence,
    Finding,
    HorizontalAutoscalers,
    Nodes,
    Provider,
    Scale,
    Severity,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

NODES_PER_REPLICA = 16
AS_DAEMON_SET = ("dns-default", "coredns", "kube-dns")
SMALL = 3


@check(
    id="DNS002",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/tasks/administer-cluster/dns-horizontal-autoscaling/",
        "https://docs.aws.amazon.com/eks/latest/best-practices/scale-cluster-services.html",
    ),
    effort="1 hour",
    risk="low",
)
def dns_no_autoscaler(
    add_ons: AddOns,
    sets: DaemonSets | Unknown,
    scalers: HorizontalAutoscalers | Unknown,
    provider: Provider | Unknown,
    nodes: Nodes,
    scale: Scale,
    *,
    from_nodes: int = 20,
) -> Iterator[Finding]:
    """Nothing adds DNS replicas when the cluster grows.

    ## Why it breaks
    Each node brings pods that ask, and replicas stay as many as somebody once set. kubeadm sets
    two, which is the shipped measure for 32 nodes. Growth goes unnoticed until a burst of lookups
    meets it. What the replicas of today serve, DNS001 says.

    ## Fix
    Run the cluster-proportional-autoscaler for DNS, or a HorizontalPodAutoscaler on it.

    ```yaml
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata:
      name: coredns
      namespace: kube-system
    spec:
      scaleTargetRef:
        apiVersion: apps/v1
        kind: Deployment
        name: coredns
      minReplicas: 2
      maxReplicas: 100
      metrics:
        - type: Resource
          resource:
            name: cpu
            target:
              type: Utilization
              averageUtilization: 60
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployments,horizontalpodautoscalers
    ```
    """
    servers = add_ons.role("dns")
    if not servers:
        yield _without_deployment(sets, add_ons)
        return
    server = max(servers, key=lambda one: one.replicas)
    evidence = [
        Evidence(what="replicas", value=f"{server.replicas:,}", source=server.subject),
        seen("Deployments", add_ons.deployments, add_ons),
    ]
    proportional = [one for one in add_ons.role("dns-autoscaler") if one.replicas]
    if proportional:
        evidence.append(
            Evidence(what="autoscaler", value=proportional[0].name, source=proportional[0].subject)
        )
        yield ok("An autoscaler adds DNS replicas.", subject=server.subject, evidence=evidence)
        return
    if isinstance(scalers, Unknown):
        yield unknown(scalers, subject=server.subject, evidence=evidence)
        return
    horizontal = next((one for one in scalers.system if one.target == server.name), None)
    evidence.append(seen("autoscalers of DNS", 0 if horizontal is None else 1, scalers))
    if horizontal is not None:
        yield ok(
            f"An autoscaler adds DNS replicas, up to {horizontal.maximum}.",
            subject=server.subject,
            evidence=evidence,
        )
        return
    if isinstance(provider, Provider) and provider.local and scale.target <= nodes.count + 100:
        yield skip(
            "A development cluster on one machine does not grow.",
            subject=server.subject,
            evidence=[seen("provider", provider.name, provider)],
        )
        return
    if isinstance(provider, Provider) and provider.name == "eks":
        # The add-on's own autoscaling leaves nothing to be read (catalog, trap 5.6).
        yield unknown(
            why=Why.MANAGED,
            summary="No autoscaler of DNS is visible; the EKS add-on's own can't be seen.",
            lift="Look at the add-on's autoScaling setting in EKS.",
            subject=server.subject,
            evidence=evidence,
        )
        return
    needed = max(1, ceil(scale.target / NODES_PER_REPLICA))
    summary = (
        f"DNS has {server.replicas} replicas and no autoscaler; "
        f"{scale.target:,} nodes need {needed}."
    )
    if (
        nodes.count <= SMALL
        or scale.target <= from_nodes
        or server.replicas * NODES_PER_REPLICA >= scale.target
    ):
        yield ok(summary, subject=server.subject, evidence=evidence)
    elif server.replicas <= 2 and scale.target > 2 * NODES_PER_REPLICA:
        yield fail(summary, subject=server.subject, evidence=evidence)
    else:
        yield warn(summary, subject=server.subject, severity=Severity.MEDIUM, evidence=evidence)


def _without_deployment(sets: DaemonSets | Unknown, add_ons: AddOns) -> Finding:
    if isinstance(sets, Unknown):
        return unknown(sets)
    for one in sets.sets:
        if one.name in AS_DAEMON_SET:
            return skip(
                "DNS runs as a DaemonSet and grows with the nodes.",
                subject=one.subject,
                evidence=[
                    Evidence(what="nodes served", value=f"{one.ready:,}", source=one.subject)
                ],
            )
    return unknown(
        why=Why.NOT_IN_API,
        summary="No DNS server is visible among the Deployments and DaemonSets.",
        lift="Where the provider serves DNS outside the cluster, skip this check.",
        evidence=[seen("Deployments", add_ons.deployments, add_ons)],
    )
