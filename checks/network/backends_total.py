"""PROXY002: how many backends all Services have together."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Dimension,
    EndpointSlices,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Scale,
    Seen,
    ServiceProxy,
    Severity,
    SourceClass,
    SystemConfig,
    Unknown,
    check,
    measure,
    seen,
    skip,
    unknown,
)

IN_IPTABLES = Dimension(
    "iptables-backends",
    unit="endpoints",
    grows=Growth.PODS,
    title="Backends in iptables",
    runs_out="Backends grow too many for iptables",
    kind=LimitKind.LATENCY,
    basis=SourceClass.OFFICIAL,
)
IN_MAP = Dimension(
    "cilium-lb-backends",
    unit="endpoints",
    grows=Growth.PODS,
    title="Cilium load-balancer map",
    runs_out="Cilium's map of backends is full",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)
# Above it iptables-restore holds its lock too long [SVCBLOG].
IPTABLES_LIMIT = 100_000
# bpf-lb-map-max where it is not set [CILMAPS].
MAP_LIMIT = 65_536
FEW_NODES = 10


@check(
    id="PROXY002",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/blogs/k8s-services-scalability-issues.md",
        "https://docs.cilium.io/en/stable/network/ebpf/maps/",
        "https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",
    ),
    effort="1 day",
    risk="medium",
)
def backends_total(
    slices: EndpointSlices,
    proxy: ServiceProxy,
    scale: Scale,
    config: SystemConfig | Unknown,
) -> Iterator[Finding]:
    """Every node knows every backend of every Service.

    ## Why it breaks
    kube-proxy writes rules for each backend on each node; from about 100,000 on, writing them
    holds the lock of iptables longer than the changes allow. Cilium keeps backends in a map with
    room for 65,536 unless told otherwise, and drops what no longer fits. One provider gives
    proportions: 1,000 backends for 50 nodes, 4,000 for 200, 20,000 for 1,000.

    ## Fix
    Make the Services of large pools headless, or give the proxy room: nftables, a larger map.

    ```shell
    kubectl -n kube-system edit configmap kube-proxy       # mode: "nftables"
    kubectl -n kube-system edit configmap cilium-config    # bpf-lb-map-max: "131072"
    ```

    ## Verify
    ```shell
    kubectl get endpointslices -A --no-headers | wc -l
    ```
    """
    evidence = [
        seen("backends", slices.backends, slices),
        seen("EndpointSlices", slices.count, slices),
        Evidence(
            what="service proxy",
            value=f"{proxy.program}, {proxy.mode}",
            source=proxy.origin.read_from,
            seen=Seen.INFERRED if proxy.platform_default else proxy.origin.seen,
        ),
    ]
    used = slices.backends
    if proxy.mode == "iptables":
        dimension, limit, words = IN_IPTABLES, IPTABLES_LIMIT, "iptables serves about"
    elif proxy.program == "Cilium":
        if isinstance(config, Unknown):
            yield unknown(config, subject="backends", evidence=evidence)
            return
        text = config.cilium_lb_map_max
        limit = int(text) if text.isdigit() and int(text) else MAP_LIMIT
        dimension, words = IN_MAP, "Cilium's map holds"
        evidence.append(seen("bpf-lb-map-max", text or f"not set ({MAP_LIMIT:,})", config))
    else:
        yield skip(
            f"{proxy.program} ({proxy.mode}) has no published limit of backends.",
            evidence=evidence,
        )
        return
    yield measure(
        dimension,
        subject="backends",
        used=used,
        limit=limit,
        constant=used if scale.nodes < FEW_NODES and used < limit else 0,
        summary=f"Services have {used:,} backends; {words} {limit:,}.",
        evidence=evidence,
    )
