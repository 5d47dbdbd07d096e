"""DNS006: memory of CoreDNS."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    DaemonSets,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Pods,
    Scale,
    Seen,
    Services,
    Severity,
    SourceClass,
    SystemConfig,
    Unknown,
    Why,
    check,
    fail,
    in_bytes,
    measure,
    ok,
    seen,
    unknown,
)

MEMORY = Dimension(
    "coredns-memory",
    unit="MB",
    grows=Growth.LINEAR,
    title="CoreDNS memory",
    runs_out="CoreDNS runs out of memory",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.OFFICIAL,
)
# MB for nothing, and pods and Services to a MB; the second pair is with autopath [CORESCALE].
PLAIN, AUTOPATH = (54, 1000), (56, 250)
# Limit in the upstream manifest [COREDEP].
UPSTREAM = 170 * 2**20
FEW_NODES = 10


@check(
    id="DNS006",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/coredns/deployment/blob/master/kubernetes/Scaling_CoreDNS.md",
        "https://github.com/zalando-incubator/kubernetes-on-aws/blob/dev/docs/postmortems/jan-2019-dns-outage.md",
    ),
    effort="half an hour",
    risk="low",
)
def coredns_memory(
    add_ons: AddOns,
    pods: Pods | Unknown,
    services: Services | Unknown,
    config: SystemConfig | Unknown,
    sets: DaemonSets | Unknown,
    scale: Scale,
) -> Iterator[Finding]:
    """CoreDNS holds all pods and Services in memory, and its limit does not grow with them.

    ## Why it breaks
    CoreDNS needs 54 MB and one more for each 1,000 pods and Services, with autopath one for each
    250. All replicas hold the same, so they meet the limit together and are killed together. A
    burst of queries adds to it: a shop lost its DNS at a limit of 100Mi, below the upstream
    manifest's 170Mi, with ten queries for each external name and no cache on the nodes.

    ## Fix
    Raise the memory limit of CoreDNS to twice what the target needs, and cache on the nodes.

    ```shell
    kubectl -n kube-system set resources deployment coredns --limits=memory=512Mi
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployment coredns -o yaml | grep -A3 limits
    kubectl -n kube-system top pods -l k8s-app=kube-dns
    ```
    """
    servers = add_ons.role("dns")
    if not servers:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="No DNS server is visible among the Deployments.",
            lift="OpenShift runs it as a DaemonSet; others serve DNS outside the cluster.",
            evidence=[seen("Deployments", add_ons.deployments, add_ons)],
        )
        return
    server = max(servers, key=lambda one: one.replicas)
    limit = server.memory_limit_bytes
    row = Evidence(
        what="memory limit",
        value=in_bytes(limit) if limit else "not set",
        source=server.subject,
        seen=Seen.DECLARED,
    )
    if not limit:
        yield ok("CoreDNS has no memory limit of its own.", subject=server.subject, evidence=[row])
        return
    yield _for_bursts(limit, row, sets)
    for hole in (pods, services, config):
        if isinstance(hole, Unknown):
            yield unknown(hole, subject=server.subject, evidence=[row])
            return
    assert isinstance(pods, Pods) and isinstance(services, Services)
    assert isinstance(config, SystemConfig)
    least, each = AUTOPATH if config.dns_autopath else PLAIN
    held = pods.active + services.count
    used = least + held / each
    megabytes = limit / 1e6
    yield measure(
        MEMORY,
        subject=server.subject,
        used=used,
        limit=megabytes,
        constant=used if scale.nodes < FEW_NODES and used < megabytes else least,
        summary=f"CoreDNS needs {used:,.0f} MB for {held:,} pods and Services "
        f"and may take {megabytes:,.0f} MB.",
        evidence=[
            row,
            seen("pods", pods.active, pods),
            seen("Services", services.count, services),
            seen("autopath", config.dns_autopath, config),
        ],
    )


def _for_bursts(limit: float, row: Evidence, sets: DaemonSets | Unknown) -> Finding:
    subject = "room for bursts"
    if limit >= UPSTREAM:
        return ok(
            f"The limit of {in_bytes(limit)} is at least that of the upstream manifest.",
            subject=subject,
            evidence=[row],
        )
    cached = isinstance(sets, DaemonSets) and any(
        "k8s-dns-node-cache" in image or one.name.startswith(("node-local-dns", "nodelocaldns"))
        for one in sets.sets
        for image in one.images or ("",)
    )
    evidence = [row]
    if isinstance(sets, DaemonSets):
        evidence.append(seen("cache on the nodes", cached, sets))
    return fail(
        f"The limit of {in_bytes(limit)} is below the 170.0 MiB of the upstream manifest"
        + ("." if cached else ", and no cache on the nodes takes the bursts."),
        subject=subject,
        severity=Severity.MEDIUM if cached else None,
        evidence=evidence,
    )
