"""AS003: beyond what the cluster autoscaler was tested with."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
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
    check,
    measure,
    seen,
    skip,
)

TESTED = Dimension(
    "cluster-autoscaler-tested-nodes",
    unit="nodes",
    grows=Growth.WALL,
    title="Autoscaler tested size",
    runs_out="The tested size of the cluster autoscaler is reached",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.TESTED,
    guidance=True,
)
TESTED_NODES = 1_000


@check(
    id="AS003",
    area=Area.AUTOSCALING,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",
        "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/scalability_tests.md",
    ),
    effort="1 day",
    risk="medium",
)
def ca_tested_scale(add_ons: AddOns, nodes: Nodes, scale: Scale) -> Iterator[Finding]:
    """The cluster autoscaler was tested with 1,000 nodes of 30 pods, and with no more.

    ## Why it breaks
    One loop looks at every node and every pending pod. The published test is 1,000 nodes with 30
    pods each, without inter-pod affinity. Beyond it nobody promises a loop of under a minute; EKS
    advises one autoscaler for each 1,000 nodes.

    ## Fix
    Shard the autoscaler by node groups above 1,000 nodes, or move to Karpenter.

    ## Verify
    ```shell
    kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml
    ```
    """
    scalers = add_ons.role("cluster-autoscaler")
    if not scalers:
        yield skip(
            "No cluster autoscaler runs here.",
            evidence=[seen("Deployments", add_ons.deployments, add_ons)],
        )
        return
    yield measure(
        TESTED,
        subject="cluster-autoscaler",
        used=nodes.count,
        # Each shard serves its own share of the nodes.
        limit=TESTED_NODES * len(scalers),
        summary=(
            f"{len(scalers)} cluster autoscaler serves {nodes.count:,} nodes; it was tested with "
            f"{TESTED_NODES:,} of 30 pods each, and {scale.target:,} are wanted."
        ),
        evidence=[
            Evidence(what="autoscalers", value=str(len(scalers)), source=scalers[0].subject),
            Evidence(
                what="tested size",
                value=f"{TESTED_NODES:,} nodes",
                source="scalability tests of the cluster autoscaler",
                seen=Seen.DECLARED,
            ),
            seen("nodes", nodes.count, nodes),
        ],
    )
