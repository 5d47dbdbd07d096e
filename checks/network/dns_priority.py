"""DNS014: DNS pods without a critical priority."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    DaemonSets,
    Evidence,
    Finding,
    Seen,
    Severity,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    unknown,
)

CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})
AS_DAEMON_SET = ("dns-default", "coredns", "kube-dns")


@check(
    id="DNS014",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/",
        "https://github.com/coredns/deployment/blob/master/kubernetes/coredns.yaml.sed",
    ),
    effort="10 minutes",
    risk="low",
)
def dns_priority(add_ons: AddOns, sets: DaemonSets | Unknown) -> Iterator[Finding]:
    r"""DNS pods can be preempted or evicted like any other pod.

    ## Why it breaks
    On a full cluster the scheduler makes room for a pod by taking one of lower priority away, and
    a node short of memory evicts the same way. Without a critical priority that pod may be DNS:
    it is then pending behind the very pods that took its place.

    ## Fix
    Give the DNS pods the priority class system-cluster-critical.

    ```shell
    kubectl -n kube-system patch deployment coredns --type merge \
      -p '{"spec":{"template":{"spec":{"priorityClassName":"system-cluster-critical"}}}}'
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l k8s-app=kube-dns \
      -o custom-columns=POD:.metadata.name,PRIORITY:.spec.priorityClassName
    ```
    """
    servers: list[tuple[str, str]] = [
        (one.subject, one.priority_class) for one in add_ons.role("dns") if one.replicas
    ]
    if not servers:
        if isinstance(sets, Unknown):
            yield unknown(sets)
            return
        servers = [
            (one.subject, one.priority_class) for one in sets.sets if one.name in AS_DAEMON_SET
        ]
    if not servers:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="No DNS server is visible among the Deployments and DaemonSets.",
            lift="Where the provider serves DNS outside the cluster, skip this check.",
            evidence=[seen("Deployments", add_ons.deployments, add_ons)],
        )
        return
    for subject, priority in servers:
        evidence = [
            Evidence(
                what="priorityClassName",
                value=priority or "not set",
                source=subject,
                seen=Seen.DECLARED,
            )
        ]
        if priority in CRITICAL:
            yield ok("DNS pods are critical.", subject=subject, evidence=evidence)
        else:
            yield fail(
                "DNS pods have no critical priority and can be preempted.",
                subject=subject,
                evidence=evidence,
            )
