"""CNI018: flannel's udp backend."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Cni,
    Evidence,
    Finding,
    FlannelBackends,
    Severity,
    SystemConfig,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
)

FLANNEL = ("flannel", "canal")


@check(
    id="CNI018",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md",
        "https://openai.com/index/scaling-kubernetes-to-2500-nodes",
    ),
    effort="half a day",
    risk="high",
)
def flannel_backend(
    backends: FlannelBackends | Unknown, cni: Cni | Unknown, config: SystemConfig | Unknown
) -> Iterator[Finding]:
    """Flannel copies every packet through a user-space process on each node.

    ## Why it breaks
    The udp backend is for debugging, says flannel itself: each packet between nodes goes through
    the kernel, a process, and the kernel again, on both sides. vxlan stays in the kernel; host-gw
    does without a tunnel where all nodes share one layer-2 network.

    ## Fix
    Change the backend to vxlan, and restart flannel on all nodes at one time of low traffic.

    ```shell
    kubectl -n kube-flannel edit configmap kube-flannel-cfg    # "Backend": {"Type": "vxlan"}
    kubectl -n kube-flannel rollout restart daemonset kube-flannel-ds
    ```

    ## Verify
    ```shell
    kubectl get nodes -o yaml | grep flannel.alpha.coreos.com/backend-type
    ```
    """
    found: dict[str, str] = {}
    evidence: list[Evidence] = []
    if isinstance(backends, FlannelBackends) and backends.backends:
        for backend, nodes in backends.backends.items():
            found[backend] = f"{nodes:,} nodes"
            evidence.append(seen(f"nodes with backend {backend}", nodes, backends))
    elif isinstance(config, SystemConfig) and config.flannel_backend:
        found[config.flannel_backend.lower()] = "the ConfigMap"
        evidence.append(seen("Backend.Type", config.flannel_backend, config))
    if "udp" in found:
        yield fail(
            f"flannel uses its udp backend by {found['udp']}; it is for debugging.",
            evidence=evidence,
        )
        return
    if isinstance(backends, Unknown):
        # Nodes say what runs; a ConfigMap only what is wanted.
        yield unknown(backends, evidence=evidence)
        return
    if found:
        yield ok(f"flannel uses {', '.join(found)}.", evidence=evidence)
        return
    if isinstance(cni, Unknown):
        yield unknown(cni)
    elif cni.name not in FLANNEL:
        yield skip(
            f"The network plugin is {cni.name}, and no node is annotated by flannel."
            if cni.name
            else "No node is annotated by flannel.",
            evidence=[
                seen("network plugin", cni.name or "none recognised", cni),
                seen("nodes with a flannel backend", 0, backends),
            ],
        )
    elif isinstance(config, Unknown):
        yield unknown(config)
    else:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="Neither the nodes nor a ConfigMap of kube-system name flannel's backend.",
            lift="kubectl -n kube-flannel get configmap kube-flannel-cfg -o yaml",
        )
