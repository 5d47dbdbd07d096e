"""DNS001: too few DNS replicas for the nodes and cores of the cluster."""

from collections.abc import Callable, Iterator
from math import ceil

from kauditor.api import (
    AddOn,
    AddOns,
    Area,
    DaemonSets,
    Dimension,
    DnsScaling,
    Evidence,
    Finding,
    Growth,
    HorizontalAutoscalers,
    LimitKind,
    Nodes,
    Provider,
    Scale,
    Seen,
    Severity,
    SourceClass,
    SystemConfig,
    Unknown,
    Why,
    check,
    measure,
    ok,
    seen,
    skip,
    unknown,
)

REPLICAS = Dimension(
    "dns-replicas",
    unit="nodes",
    grows=Growth.WALL,
    title="DNS replicas",
    runs_out="DNS capacity runs out",
    kind=LimitKind.CAPACITY,
    basis=SourceClass.OFFICIAL,
)
# The upstream, kops and EKS setting of the proportional autoscaler [CPADNS], [EKSSVC].
NODES_PER_REPLICA = 16
CORES_PER_REPLICA = 256


@check(
    id="DNS001",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/coredns/deployment/blob/master/kubernetes/Scaling_CoreDNS.md",
        "https://kubernetes.io/docs/tasks/administer-cluster/dns-horizontal-autoscaling/",
    ),
    effort="1 hour",
    risk="low",
)
def coredns_replicas(
    add_ons: AddOns,
    nodes: Nodes,
    sets: DaemonSets | Unknown,
    config: SystemConfig | Unknown,
    scalers: HorizontalAutoscalers | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
) -> Iterator[Finding]:
    """Cluster DNS needs a replica for every 16 nodes or 256 cores, and a policy that adds them.

    ## Why it breaks
    Queries grow with the pods, replicas do not grow by themselves. The shipped rule is
    max(⌈cores / 256⌉, ⌈nodes / 16⌉): two replicas serve 32 nodes. What counts is the policy at
    the target, not the number of today, so a proportional or horizontal autoscaler is read too.

    ## Fix
    Run the cluster-proportional-autoscaler for DNS with 16 nodes and 256 cores per replica.

    ```yaml
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: dns-autoscaler
      namespace: kube-system
    data:
      linear: '{"coresPerReplica":256,"nodesPerReplica":16,"min":2,"preventSinglePointFailure":true}'
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployments -l k8s-app=kube-dns
    ```
    """
    servers = add_ons.role("dns")
    if not servers:
        yield _without_deployment(sets, add_ons)
        return
    server = max(servers, key=lambda one: one.replicas)
    cores_a_node = nodes.schedulable_cores / nodes.schedulable if nodes.schedulable else 0.0
    evidence = [
        Evidence(what="replicas", value=f"{server.replicas:,}", source=server.subject),
        seen("nodes", nodes.count, nodes),
        seen("cores", nodes.schedulable_cores, nodes),
    ]

    def needed(count: int) -> int:
        return max(
            ceil(count / NODES_PER_REPLICA), ceil(count * cores_a_node / CORES_PER_REPLICA), 1
        )

    policy, words, row = _policy(server, add_ons, config, scalers, cores_a_node)
    if row is not None:
        evidence.append(row)
    if policy is None:
        for hole in (config, scalers):
            if isinstance(hole, Unknown):
                yield unknown(hole, subject=server.subject, evidence=evidence)
                return
        if isinstance(provider, Provider) and provider.name == "eks":
            # The add-on's own autoscaling leaves nothing to be read (catalog, trap 5.6).
            yield unknown(
                why=Why.MANAGED,
                summary=f"DNS runs {server.replicas} replicas; whether the EKS add-on scales them "
                "can't be seen from inside.",
                lift="Look at the add-on's autoScaling setting in EKS.",
                subject=server.subject,
                evidence=evidence,
            )
            return
        if isinstance(provider, Provider) and provider.local and scale.target <= nodes.count + 100:
            yield skip(
                "A development cluster on one machine does not grow.",
                subject=server.subject,
                evidence=[*evidence, seen("provider", provider.name, provider)],
            )
            return
        words = f"{server.replicas} replicas and no autoscaler"
    reach = _reach(policy or (lambda count: server.replicas), needed)
    summary = f"DNS has {words}; {scale.target:,} nodes need {needed(scale.target)} replicas."
    if reach is None:
        yield ok(summary, subject=server.subject, evidence=evidence)
        return
    yield measure(
        REPLICAS,
        subject=server.subject,
        used=nodes.count,
        limit=reach,
        summary=summary,
        evidence=evidence,
    )


def _without_deployment(sets: DaemonSets | Unknown, add_ons: AddOns) -> Finding:
    if isinstance(sets, Unknown):
        return unknown(sets)
    for one in sets.sets:
        if one.name in ("dns-default", "coredns", "kube-dns"):
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


Policy = Callable[[int], int]


def _policy(
    server: AddOn,
    add_ons: AddOns,
    config: SystemConfig | Unknown,
    scalers: HorizontalAutoscalers | Unknown,
    cores_a_node: float,
) -> tuple[Policy | None, str, Evidence | None]:
    """How many replicas there are at a number of nodes; null where nothing scales them."""
    proportional = add_ons.role("dns-autoscaler")
    if isinstance(config, SystemConfig) and proportional and proportional[0].replicas:
        scaler = proportional[0]
        wanted = scaler.flags.get("configmap") or scaler.name
        for scaling in config.dns_scaling:
            if scaling.name == wanted:
                return _proportional(scaling, cores_a_node)
        if len(config.dns_scaling) == 1:
            return _proportional(config.dns_scaling[0], cores_a_node)
    if isinstance(scalers, HorizontalAutoscalers):
        for horizontal in scalers.system:
            if horizontal.target == server.name:
                most = horizontal.maximum
                row = Evidence(
                    what="most replicas",
                    value=f"{most:,}",
                    source=f"HorizontalPodAutoscaler kube-system/{horizontal.name}",
                    seen=Seen.DECLARED,
                )
                words = f"an autoscaler with at most {most} replicas"
                return (lambda count, most=most: most), words, row
    return None, "", None


def _proportional(scaling: DnsScaling, cores_a_node: float) -> tuple[Policy, str, Evidence]:
    source = f"ConfigMap kube-system/{scaling.name}"
    if scaling.ladder:
        steps = scaling.steps

        def climb(count: int) -> int:
            return max((replicas for nodes, replicas in steps if nodes <= count), default=1)

        row = Evidence(
            what="ladder", value=f"{len(steps)} steps", source=source, seen=Seen.DECLARED
        )
        return climb, "a proportional autoscaler with a ladder", row

    def policy(count: int) -> int:
        by_nodes = ceil(count / scaling.nodes_per_replica) if scaling.nodes_per_replica else 0
        by_cores = (
            ceil(count * cores_a_node / scaling.cores_per_replica)
            if scaling.cores_per_replica
            else 0
        )
        replicas = max(by_nodes, by_cores, scaling.minimum)
        return min(replicas, scaling.maximum) if scaling.maximum else replicas

    row = Evidence(
        what="replicas by size",
        value=f"one for {scaling.nodes_per_replica:g} nodes or {scaling.cores_per_replica:g} cores",
        source=source,
        seen=Seen.DECLARED,
    )
    return policy, "a proportional autoscaler", row


def _reach(policy: Policy, needed: Policy) -> int | None:
    """The largest cluster that the policy serves; null where it keeps up as far as we look."""
    # Both rise with the nodes in steps of at least one node; 20,000 is beyond every published
    # envelope but one.
    for count in range(1, 20_001):
        if policy(count) < needed(count):
            return count - 1
    return None
