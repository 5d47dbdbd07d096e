"""PROXY005: kube-proxy in IPVS mode."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Finding,
    ServerVersion,
    ServiceProxy,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    skip,
    warn,
)

# The first version that warns of the mode [KEP5495].
WARNED = 35


@check(
    id="PROXY005",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/5495-deprecate-ipvs-mode-in-kube-proxy",
        "https://kubernetes.io/docs/reference/networking/virtual-ips/",
    ),
    effort="1 day",
    risk="medium",
)
def ipvs_deprecated(proxy: ServiceProxy, version: ServerVersion | Unknown) -> Iterator[Finding]:
    """kube-proxy runs in its IPVS mode, which is on its way out.

    ## Why it breaks
    IPVS was the answer to slow iptables. It is deprecated: kube-proxy warns of it from Kubernetes
    1.35, the plan switches it off by default in 1.40 and removes it in 1.43. A cluster that grows
    on it has to change its proxy later, with more nodes and more at stake.

    ## Fix
    Change kube-proxy to nftables, stable from Kubernetes 1.33, one pool of nodes after another.

    ```shell
    kubectl -n kube-system edit configmap kube-proxy    # mode: "nftables"
    kubectl -n kube-system rollout restart daemonset kube-proxy
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get configmap kube-proxy -o yaml | grep 'mode:'
    ```
    """
    evidence = [seen("service proxy", f"{proxy.program}, {proxy.mode}", proxy)]
    if proxy.program != "kube-proxy":
        yield skip(f"Services are served by {proxy.program}.", evidence=evidence)
    elif proxy.mode != "ipvs":
        yield ok(f"kube-proxy runs in {proxy.mode} mode.", evidence=evidence)
    elif isinstance(version, Unknown) or version.minor >= WARNED:
        yield fail(
            "kube-proxy runs in IPVS mode, which is deprecated from 1.35 and gone in 1.43.",
            evidence=evidence,
        )
    else:
        yield warn(
            "kube-proxy runs in IPVS mode, which is deprecated from Kubernetes 1.35.",
            severity=Severity.MEDIUM,
            evidence=[*evidence, seen("version", version.git_version, version)],
        )
