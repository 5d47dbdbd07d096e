"""PROXY001: kube-proxy in iptables mode with many Services."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Cni,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Scale,
    Seen,
    ServiceProxy,
    Services,
    Severity,
    SourceClass,
    Unknown,
    check,
    measure,
    ok,
    seen,
    skip,
    warn,
)

RULES = Dimension(
    "iptables-services",
    unit="services",
    grows=Growth.LINEAR,
    title="Services in iptables",
    runs_out="iptables rules grow too many for kube-proxy",
    kind=LimitKind.LATENCY,
    basis=SourceClass.OFFICIAL,
)
# Kubernetes' own envelope, and where the iptables mode is called reasonable [THR], [SVCBLOG].
LIMIT = 10_000
# Below ten nodes the number of Services says nothing of a slope (catalog, trap 5.35).
FEW_NODES = 10
WRITERS = ("flannel", "canal")


@check(
    id="PROXY001",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/community/blob/main/sig-scalability/blogs/k8s-services-scalability-issues.md",
        "https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/3866-nftables-proxy",
        "https://github.com/flannel-io/flannel/issues/933",
    ),
    effort="1 day",
    risk="medium",
)
def iptables_services(
    proxy: ServiceProxy,
    services: Services,
    scale: Scale,
    cni: Cni | Unknown,
    *,
    two_writers_from: int = 500,
) -> Iterator[Finding]:
    """kube-proxy writes iptables rules for every Service, and the kernel walks them in order.

    ## Why it breaks
    The rules grow with Services and their endpoints. Each new connection walks the list of
    Services, and each change is written under a lock that all users of iptables share. Up to
    10,000 Services that is called reasonable. A second program that writes iptables, such as an
    older flannel, takes the same lock: one cluster of 50 nodes lost it at 818 Services, while
    clusters with 200 did well.

    ## Fix
    Change kube-proxy to nftables, stable from Kubernetes 1.33, where lookups do not grow.

    ```shell
    kubectl -n kube-system edit configmap kube-proxy    # mode: "nftables"
    kubectl -n kube-system rollout restart daemonset kube-proxy
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get configmap kube-proxy -o yaml | grep 'mode:'
    ```
    """
    how = Evidence(
        what="service proxy",
        value=f"{proxy.program}, {proxy.mode}"
        + (" (the platform's default)" if proxy.platform_default else ""),
        source=proxy.origin.read_from,
        seen=Seen.INFERRED if proxy.platform_default else proxy.origin.seen,
    )
    if proxy.mode != "iptables":
        yield skip(
            f"Services are served by {proxy.program} ({proxy.mode}), not by iptables.",
            evidence=[how],
        )
        return
    used = services.with_address
    evidence = [how, seen("Services with an address", used, services)]
    yield measure(
        RULES,
        subject="Services",
        used=used,
        limit=LIMIT,
        constant=used if scale.nodes < FEW_NODES and used < LIMIT else 0,
        summary=f"kube-proxy writes iptables rules for {used:,} Services; "
        f"up to {LIMIT:,} are called reasonable.",
        evidence=evidence,
    )
    if not isinstance(cni, Unknown) and cni.name in WRITERS:
        evidence.append(seen("network plugin", cni.name, cni))
        if used >= two_writers_from:
            yield warn(
                f"kube-proxy and {cni.name} both write iptables, with {used:,} Services: "
                "they wait for the same lock.",
                subject="two writers of iptables",
                severity=Severity.MEDIUM,
                evidence=evidence,
                fix="Run a flannel that checks before it writes, or switch its masquerade rules "
                "off where they are not needed.",
            )
        else:
            yield ok(
                f"kube-proxy and {cni.name} both write iptables, with few Services.",
                subject="two writers of iptables",
                evidence=evidence,
            )
