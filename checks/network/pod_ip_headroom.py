"""ADDR003: addresses left for pods where the network plugin hands them out."""

import re
from collections.abc import Iterator
from ipaddress import ip_network

from kauditor.api import (
    Area,
    Cni,
    Dimension,
    Finding,
    Growth,
    IpamBlocks,
    IpPools,
    LimitKind,
    Nodes,
    Severity,
    SourceClass,
    SystemConfig,
    Unknown,
    Why,
    check,
    measure,
    seen,
    skip,
    unknown,
)

ADDRESSES = Dimension(
    "plugin-pod-addresses",
    unit="addresses",
    grows=Growth.PODS,
    title="Pod addresses of the plugin",
    runs_out="The plugin's pod addresses run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)
BLOCKS = Dimension(
    "cilium-node-blocks",
    unit="blocks",
    grows=Growth.WALL,
    title="Cilium's node blocks",
    runs_out="Cilium's node blocks run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)
# A rollout holds old and new pods at once: a quarter more, the default surge of a Deployment.
SURGE = 1.25
CLUSTER_POOL = ("cluster-pool", "cluster-pool-v2beta")
DEFAULT_MASK = 24


@check(
    id="ADDR003",
    area=Area.NETWORK,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://docs.cilium.io/en/stable/network/concepts/ipam/cluster-pool/",
        "https://docs.tigera.io/calico/latest/networking/ipam/change-block-size",
        "https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
    ),
    effort="1 day",
    risk="medium",
)
def pod_ip_headroom(
    cni: Cni,
    config: SystemConfig | Unknown,
    pools: IpPools | Unknown,
    blocks: IpamBlocks | Unknown,
    nodes: Nodes,
) -> Iterator[Finding]:
    """Pods get their addresses from the network plugin, and its pools have an end.

    ## Why it breaks
    Without a free address a pod waits in ContainerCreating. Cilium cuts one block for each node
    from its pools, as Kubernetes does elsewhere; Calico hands out addresses, of which a rollout
    needs a quarter more than there are pods; plugins of clouds take them from a subnet that only
    the cloud knows the size of.

    ## Fix
    Add a second pool before the first one is full; it must overlap with nothing in the network.

    ```shell
    kubectl -n kube-system edit configmap cilium-config    # cluster-pool-ipv4-cidr: "10.0.0.0/12 10.64.0.0/12"
    calicoctl create -f second-ippool.yaml
    ```

    ## Verify
    ```shell
    kubectl get ciliumnodes -o custom-columns=NODE:.metadata.name,BLOCKS:.spec.ipam.podCIDRs
    calicoctl ipam show
    ```
    """
    plugin = seen("network plugin", cni.name or "none recognised", cni)
    # k3s runs flannel in its own process: nodes are annotated, and there is no DaemonSet.
    if cni.uses_node_blocks or (not cni.name and nodes.flannel_nodes):
        yield skip(
            f"The network plugin ({cni.name or 'flannel'}) uses the nodes' blocks, which ADDR001 counts.",
            evidence=[plugin],
        )
    elif cni.name == "calico":
        yield _calico(pools, blocks)
    elif cni.name == "cilium":
        yield _cilium(config, nodes)
    else:
        yield unknown(
            why=Why.NOT_IN_API,
            summary=f"How many addresses {cni.name or 'the network plugin'} has left "
            "is not kept in the cluster.",
            lift="Look at the free addresses of the subnets in the cloud's console.",
            subject="pod addresses",
            evidence=[plugin],
        )


def _calico(pools: IpPools | Unknown, blocks: IpamBlocks | Unknown) -> Finding:
    subject = "pod addresses"
    if isinstance(pools, Unknown):
        return unknown(pools, subject=subject)
    if isinstance(blocks, Unknown):
        return unknown(blocks, subject=subject)
    family = [pool for pool in pools.pools if pool.version == 4]
    if not family:
        return skip(
            "Calico has no IPv4 pool.",
            subject=subject,
            evidence=[seen("IPPools", pools.count, pools)],
        )
    room = sum(ip_network(pool.cidr).num_addresses for pool in family)
    shown = ", ".join(pool.cidr for pool in family[:3])
    return measure(
        ADDRESSES,
        subject=subject,
        used=blocks.allocated * SURGE,
        limit=room,
        summary=f"{blocks.allocated:,} of {room:,} addresses of {shown} are taken; "
        "a rollout takes a quarter more.",
        evidence=[
            seen("pools", shown, pools),
            seen("addresses", room, pools),
            seen("addresses allocated", blocks.allocated, blocks),
        ],
    )


def _cilium(config: SystemConfig | Unknown, nodes: Nodes) -> Finding:
    subject = "node blocks"
    if isinstance(config, Unknown):
        return unknown(config, subject=subject)
    cidrs = [part for part in re.split(r"[\s,]+", config.cilium_pod_cidrs) if part]
    if config.cilium_ipam not in CLUSTER_POOL or not cidrs:
        return unknown(
            why=Why.NOT_IN_API,
            summary=f"Cilium's address management ({config.cilium_ipam or 'not seen'}) "
            "does not name its pools in cilium-config.",
            lift="kubectl get ciliumpodippools,ciliumnodes -o yaml",
            subject=subject,
            evidence=[seen("ipam", config.cilium_ipam, config)],
        )
    set_ = config.cilium_mask_size.isdigit()
    mask = int(config.cilium_mask_size) if set_ else DEFAULT_MASK
    room = 0
    for cidr in cidrs:
        try:
            spare = mask - ip_network(cidr, strict=False).prefixlen
        except ValueError:
            return unknown(
                why=Why.NOT_IN_API,
                summary=f"Cilium's pool {cidr!r} is no address range.",
                lift="Correct cluster-pool-ipv4-cidr in cilium-config.",
                subject=subject,
            )
        room += 1 << spare if spare >= 0 else 0
    return measure(
        BLOCKS,
        subject=subject,
        used=nodes.count,
        limit=room,
        summary=f"{nodes.count:,} of {room:,} node blocks of {', '.join(cidrs)} are taken.",
        evidence=[
            seen("pools", ", ".join(cidrs), config),
            seen("block of a node", f"/{mask}" + ("" if set_ else " (default)"), config),
            seen("nodes", nodes.count, nodes),
        ],
    )
