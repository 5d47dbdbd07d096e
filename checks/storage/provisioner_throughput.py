"""STOR003: a CSI provisioner at its default client rate."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    CsiControllers,
    Evidence,
    Finding,
    Provider,
    Scale,
    Seen,
    Severity,
    Unknown,
    Why,
    check,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

DEFAULT_QPS = 5.0


@check(
    id="STOR003",
    area=Area.STORAGE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes-csi/external-provisioner",
        "https://github.com/kubernetes-csi/external-provisioner/issues/68",
    ),
    effort="10 minutes",
    risk="low",
)
def provisioner_throughput(
    controllers: CsiControllers,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    from_nodes: int = 500,
) -> Iterator[Finding]:
    """The CSI provisioner may send five requests a second, whatever the cluster's size.

    ## Why it breaks
    Each volume takes two or three writes to the API server. At the default of 5 requests a second
    a hundred claims at once take a minute and more of pure waiting, and a StatefulSet that scales
    up in parallel waits for the sidecar, not for the disks.

    ## Fix
    Raise `--kube-api-qps` and `--kube-api-burst` of the csi-provisioner sidecar together.

    ## Verify
    ```shell
    kubectl get deployments --all-namespaces -o yaml | grep -A12 csi-provisioner | grep kube-api
    ```
    """
    provisioners = [one for one in controllers.controllers if "provisioner" in one.flags]
    if not provisioners:
        if isinstance(provider, Unknown):
            yield unknown(provider)
        elif provider.managed:
            yield unknown(
                why=Why.MANAGED,
                summary=f"{provider.name} may run the storage controllers out of sight.",
            )
        else:
            yield skip(
                "No CSI provisioner runs here.",
                evidence=[seen("CSI controllers", len(controllers.controllers), controllers)],
            )
        return
    for one in provisioners:
        text = one.flags["provisioner"].get("kube-api-qps", "")
        qps = float(text) if text.replace(".", "", 1).isdigit() else DEFAULT_QPS
        evidence = [
            Evidence(
                what="--kube-api-qps of csi-provisioner",
                value=text or f"not set (default {DEFAULT_QPS:g})",
                source=one.subject,
                seen=Seen.DECLARED,
            )
        ]
        words = f"The provisioner may send {qps:g} requests a second"
        if qps <= DEFAULT_QPS and scale.target >= from_nodes:
            yield warn(
                f"{words}; 100 claims at once take {100 * 3 / qps:,.0f} s of waiting.",
                subject=one.subject,
                evidence=evidence,
            )
        else:
            yield ok(f"{words}.", subject=one.subject, evidence=evidence)
