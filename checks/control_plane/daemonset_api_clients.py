"""API011: a DaemonSet that may list the whole cluster from every node."""

from collections.abc import Iterator, Set

from kauditor.api import (
    Area,
    ClusterWideReaders,
    DaemonSet,
    DaemonSets,
    Evidence,
    Finding,
    Pods,
    Scale,
    Seen,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    skip,
    warn,
)

# Network plugins and proxies watch by design and have checks of their own.
EXPECTED = frozenset(
    """
    kube-proxy calico-node canal cilium anetd aws-node azure-cns azure-npm kube-flannel-ds
    kube-flannel ovnkube-node sdn antrea-agent weave-net kube-router kindnet node-local-dns
    multus kube-multus-ds
    """.split()
)
HEAVIEST = frozenset({"events", "secrets"})
HEAVY = frozenset({"pods", "configmaps", "replicasets", "endpoints"}) | HEAVIEST


@check(
    id="API011",
    area=Area.CONTROL_PLANE,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://openai.com/index/scaling-kubernetes-to-7500-nodes",
        "https://simonwillison.net/2024/Dec/13/openai-postmortem/",
        "https://github.com/kubernetes/community/blob/main/sig-scalability/configs-and-limits/faq.md",
    ),
    effort="half a day",
    risk="medium",
)
def daemonset_api_clients(
    sets: DaemonSets,
    readers: ClusterWideReaders,
    scale: Scale,
    pods: Pods | Unknown,
    *,
    critical_from_nodes: int = 1000,
    least_share_percent: float = 5.0,
) -> Iterator[Finding]:
    """A DaemonSet's service account may list whole collections of the cluster from every node.

    ## Why it breaks
    An agent on every node that lists a collection costs nodes × objects, and both grow with the
    cluster: the load is quadratic. This is the recurring failure of large clusters. Telemetry
    agents that listed Events from each of about 1,000 nodes read more than 500 MB a second from
    etcd in 2018; in December 2024 a telemetry rollout took down the control planes of every large
    cluster of one company within minutes. The right to list is no proof that an agent does list:
    this finding says what the agent is capable of.

    ## Fix
    Let the agent read from its own kubelet, or through one caching cluster agent, and take the
    cluster-wide list right away. Fluent Bit has `Use_Kubelet On`; most agents can filter by
    `spec.nodeName`. Roll agents out in steps, so that they do not all list at once:

    ```yaml
    apiVersion: apps/v1
    kind: DaemonSet
    metadata:
      name: agent
    spec:
      minReadySeconds: 60
      updateStrategy:
        type: RollingUpdate
        rollingUpdate:
          maxUnavailable: 1
      selector:
        matchLabels: {app: agent}
      template:
        metadata:
          labels: {app: agent}
        spec:
          containers:
            - name: agent
              image: registry.example/agent:1
    ```

    ## Verify
    ```shell
    kubectl auth can-i list pods --all-namespaces --as=system:serviceaccount:NAMESPACE:ACCOUNT
    ```
    """
    if not sets.count:
        yield skip("There are no DaemonSets.", evidence=[seen("DaemonSets", 0, sets)])
        return
    found = False
    for one in sets.sets:
        if one.name in EXPECTED or one.desired * 100 < least_share_percent * scale.nodes:
            continue
        reader = readers.of(one.namespace, one.account)
        allowed = HEAVY & set(reader.collections) if reader else set()
        if reader is None or not allowed:
            continue
        found = True
        yield _finding(one, allowed, reader.roles, readers, scale, pods, critical_from_nodes)
    if not found:
        yield ok(
            f"None of {sets.count} DaemonSets may list pods, events or secrets of the whole cluster.",
            evidence=[seen("DaemonSets", sets.count, sets)],
        )


def _finding(
    one: DaemonSet,
    allowed: Set[str],
    roles: tuple[str, ...],
    readers: ClusterWideReaders,
    scale: Scale,
    pods: Pods | Unknown,
    critical_from: int,
) -> Finding:
    names = ", ".join(sorted(allowed))
    cost = ""
    if isinstance(pods, Pods) and "pods" in allowed:
        at_target = scale.target * pods.total * scale.target / scale.nodes
        cost = (
            f" One restart of all its pods at {scale.target:,} nodes could read "
            f"{scale.target:,} × {pods.total * scale.target / scale.nodes:,.0f} pods"
            f" = {at_target:,.0f} objects."
        )
    evidence = [
        Evidence(
            what="service account", value=f"{one.namespace}/{one.account}", source=one.subject
        ),
        Evidence(
            what="may list cluster-wide",
            value=names,
            source=", ".join(f"ClusterRole {role}" for role in roles) or readers.origin.read_from,
            seen=Seen.DECLARED,
        ),
        Evidence(what="pods of it", value=f"{one.desired:,}", source=one.subject),
    ]
    summary = (
        f"{one.namespace}/{one.name} runs on {one.desired:,} nodes and is capable of listing "
        f"{names} of the whole cluster.{cost}"
    )
    severity = Severity.CRITICAL if scale.target > critical_from else Severity.HIGH
    verdict = fail if allowed & HEAVIEST else warn
    return verdict(summary, subject=one.subject, severity=severity, evidence=evidence)
