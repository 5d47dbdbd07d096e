"""CNI007: every Cilium agent watches every endpoint by itself."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Cni,
    Evidence,
    Finding,
    Scale,
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
    warn,
)

# The largest published test without slices [CILREP].
TESTED = 1000


@check(
    id="CNI007",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://docs.cilium.io/en/stable/network/kubernetes/ciliumendpointslice/",
        "https://docs.cilium.io/en/stable/operations/performance/scalability/report/",
    ),
    effort="half a day",
    risk="medium",
)
def cilium_endpointslices_off(
    cni: Cni, config: SystemConfig | Unknown, scale: Scale, *, from_nodes: int = 500
) -> Iterator[Finding]:
    r"""Each Cilium agent watches one CiliumEndpoint for every pod of the cluster.

    ## Why it breaks
    Each pod that starts or stops is one event for every agent: the API server sends pods × nodes
    messages, which grows with the square of the cluster. CiliumEndpointSlices put up to a hundred
    endpoints in one object. They are off by default; without them the largest published test had
    1,000 nodes and 50,000 pods.

    ## Fix
    Turn CiliumEndpointSlices on, and restart the operator and the agents by pool.

    ```shell
    kubectl -n kube-system patch configmap cilium-config --type merge \
      -p '{"data":{"enable-cilium-endpoint-slice":"true"}}'
    ```

    ## Verify
    ```shell
    kubectl get ciliumendpointslices --no-headers | wc -l
    ```
    """
    if cni.name != "cilium":
        yield skip(
            "GKE keeps the settings of its Dataplane V2."
            if cni.name == "cilium-gke"
            else f"The network plugin is {cni.name}, not Cilium."
            if cni.name
            else "No Cilium is among the DaemonSets.",
            evidence=[seen("network plugin", cni.name or "none recognised", cni)],
        )
        return
    if isinstance(config, Unknown):
        yield unknown(config)
        return
    if config.cilium_endpoint_slice is None:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="There is no ConfigMap cilium-config in kube-system.",
            lift="Look at the settings of the Cilium agents where they are kept.",
        )
        return
    evidence = [
        seen(
            "enable-cilium-endpoint-slice",
            config.cilium_endpoint_slice or "not set (off)",
            config,
        ),
        Evidence(what="target", value=f"{scale.target:,} nodes", source="target of the scan"),
    ]
    if config.cilium_endpoint_slice.lower() == "true":
        yield ok("Cilium packs its endpoints into slices.", evidence=evidence)
    elif scale.target <= from_nodes:
        yield ok(
            f"Cilium does not pack its endpoints, which serves up to {from_nodes:,} nodes.",
            evidence=evidence,
        )
    elif scale.target <= TESTED:
        yield warn(
            f"Cilium does not pack its endpoints, and {scale.target:,} nodes are wanted; "
            f"it was tested without up to {TESTED:,}.",
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    else:
        yield fail(
            f"Cilium does not pack its endpoints, and {scale.target:,} nodes are wanted: "
            f"more than the {TESTED:,} it was tested with.",
            evidence=evidence,
        )
