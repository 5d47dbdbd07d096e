"""ADDR001: pod CIDR blocks left for new nodes."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ClusterCidr,
    Cni,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Nodes,
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

BLOCKS = Dimension(
    "pod-cidr-blocks",
    unit="blocks",
    grows=Growth.WALL,
    title="Pod addresses",
    runs_out="Pod addresses run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)


@check(
    id="ADDR001",
    area=Area.NETWORK,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/",
        "https://github.com/kubernetes/kubernetes/issues/85866",
    ),
    effort="1 day",
    risk="high",
)
def pod_cidr_exhaustion(nodes: Nodes, cidr: ClusterCidr | Unknown, cni: Cni) -> Iterator[Finding]:
    """Each node takes one block of the cluster's pod CIDR; without a free one it stays NotReady.

    ## Why it breaks
    The controller-manager cuts one block for each node from the cluster's pod range: a /16 with a
    /24 for each node holds 2^(24 − 16) = 256 nodes, and the 257th gets none. The range can't be
    extended later: the proposal to allow several ranges was withdrawn.

    ## Fix
    Give new nodes smaller blocks, or plan a larger range for the next cluster. A block must still
    hold the node's pods: a /25 holds 126, a /26 holds 62. Existing nodes keep their block.

    ```shell
    # in /etc/kubernetes/manifests/kube-controller-manager.yaml
    - --node-cidr-mask-size=25
    ```

    ## Verify
    ```shell
    kubectl get nodes -o custom-columns=NODE:.metadata.name,BLOCK:.spec.podCIDR
    ```
    """
    if cni.uses_node_blocks is False:
        yield skip(
            f"The network plugin ({cni.name}) hands out addresses by itself, "
            "not from the nodes' blocks.",
            evidence=[seen("network plugin", cni.name, cni)],
        )
        return
    if isinstance(cidr, Unknown):
        yield unknown(cidr)
        return
    if not cidr.allocator:
        yield skip(
            "The controller-manager hands out no pod blocks.",
            evidence=[seen("allocate-node-cidrs", False, cidr)],
        )
        return
    plugin = Evidence(
        what="network plugin",
        value=cni.name or "none recognised",
        source=cni.origin.read_from,
        # Whether an unrecognised plugin uses the blocks is our inference.
        seen=Seen.DECLARED if cni.uses_node_blocks else Seen.INFERRED,
    )
    for block_range in cidr.ranges:
        yield measure(
            BLOCKS,
            subject=block_range.cidr,
            used=nodes.count,
            limit=block_range.blocks,
            summary=(
                f"{nodes.count:,} of {block_range.blocks:,} node blocks "
                f"of {block_range.cidr} are taken."
            ),
            evidence=[
                seen("pod range", block_range.cidr, cidr),
                Evidence(
                    what="block of a node",
                    value=f"/{block_range.node_mask}"
                    + ("" if block_range.mask_set else " (default)"),
                    source=cidr.origin.read_from,
                    seen=cidr.origin.seen,
                ),
                seen("nodes", nodes.count, nodes),
                plugin,
            ],
        )
