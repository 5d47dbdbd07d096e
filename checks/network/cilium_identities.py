"""CNI006: Cilium's security identities."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    CiliumIdentities,
    Cni,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Scale,
    Seen,
    Severity,
    SourceClass,
    Unknown,
    check,
    measure,
    seen,
    skip,
    unknown,
)

IDENTITIES = Dimension(
    "cilium-identities",
    unit="identities",
    grows=Growth.LINEAR,
    title="Cilium identities",
    runs_out="Cilium's identities run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)
# 1 to 65,535, of which 255 are reserved [CILID].
LIMIT = 65_280
FEW_NODES = 10


@check(
    id="CNI006",
    area=Area.NETWORK,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://docs.cilium.io/en/stable/internals/security-identities/",
        "https://docs.cilium.io/en/stable/operations/performance/scalability/identity-relevant-labels/",
        "https://github.com/cilium/cilium/issues/40617",
    ),
    effort="half a day",
    risk="high",
)
def cilium_identities(
    cni: Cni, identities: CiliumIdentities | Unknown, nodes: Nodes, scale: Scale
) -> Iterator[Finding]:
    """Cilium gives each distinct set of labels an identity, and has 65,280 of them.

    ## Why it breaks
    Pods with the same labels share an identity. A label that differs for each pod, such as the
    name of a Job or a controller's uid, makes each pod an identity of its own. When they run out,
    new pods get no network. Every agent also holds every identity in the policy map of each
    endpoint, which has room for 16,384 by default.

    ## Fix
    Filter the labels that make identities before the cluster grows, and migrate with care.

    ```shell
    # in ConfigMap kube-system/cilium-config
    labels: "!job-name !batch.kubernetes.io/.* !controller-uid !statefulset.kubernetes.io/pod-name"
    ```

    ## Verify
    ```shell
    kubectl get ciliumidentities --no-headers | wc -l
    ```
    """
    if cni.name not in ("cilium", "cilium-gke"):
        yield skip(
            f"The network plugin is {cni.name}, not Cilium."
            if cni.name
            else "No Cilium is among the DaemonSets.",
            evidence=[seen("network plugin", cni.name or "none recognised", cni)],
        )
        return
    if isinstance(identities, Unknown):
        yield unknown(identities, subject="identities")
        return
    used = identities.count
    yield measure(
        IDENTITIES,
        subject="identities",
        used=used,
        limit=LIMIT,
        constant=used if scale.nodes < FEW_NODES and used < LIMIT // 2 else 0,
        summary=f"Cilium holds {used:,} of {LIMIT:,} identities.",
        evidence=[
            seen("identities", used, identities),
            seen("nodes", nodes.count, nodes),
            Evidence(
                what="growth",
                value="in step with the nodes, the worst case",
                source="rule of projection",
                seen=Seen.INFERRED,
            ),
        ],
    )
