"""CNI004: Calico's address blocks."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Cni,
    Dimension,
    Evidence,
    Finding,
    Growth,
    IpamBlocks,
    IpPools,
    LimitKind,
    Nodes,
    Pods,
    Severity,
    SourceClass,
    Unknown,
    check,
    fail,
    measure,
    ok,
    seen,
    skip,
    unknown,
)

BLOCKS = Dimension(
    "calico-blocks",
    unit="blocks",
    grows=Growth.LINEAR,
    title="Calico address blocks",
    runs_out="Calico's address blocks run out",
    kind=LimitKind.HARD,
    basis=SourceClass.HARD,
)
# Addresses that a node takes for its own tunnels, at most.
ADDRESSES_PER_NODE = 3
# From this many addresses without a pod on it is no churn.
WORTH_NAMING = 512


@check(
    id="CNI004",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://docs.tigera.io/calico/latest/networking/ipam/change-block-size",
        "https://github.com/projectcalico/calico/issues/4861",
    ),
    effort="half a day",
    risk="medium",
)
def calico_ipam_blocks(
    cni: Cni,
    pools: IpPools | Unknown,
    blocks: IpamBlocks | Unknown,
    nodes: Nodes,
    pods: Pods | Unknown,
) -> Iterator[Finding]:
    """Calico cuts its pools into blocks, and a node holds whole blocks.

    ## Why it breaks
    A pool of /16 in blocks of /26 has 1,024 of them. A node takes one for its first pod and
    another when it is full, so many nodes with few pods use up the blocks long before the
    addresses. Without a free block nodes borrow addresses one by one, and with strict affinity pods
    get none. Addresses that were never given back hold blocks too: one cluster held 14,080 for 800
    pods.

    ## Fix
    Add an IPPool, with blocks that fit the pods of a node; release what leaked first.

    ```shell
    calicoctl ipam check -o report.json
    calicoctl ipam release --from-report=report.json
    ```

    ## Verify
    ```shell
    calicoctl ipam show --show-blocks
    ```
    """
    if cni.name != "calico":
        yield skip(
            f"The network plugin is {cni.name}, and not Calico with its own addresses."
            if cni.name
            else "No Calico is among the DaemonSets.",
            evidence=[seen("network plugin", cni.name or "none recognised", cni)],
        )
        return
    if isinstance(pools, Unknown) or isinstance(blocks, Unknown):
        yield unknown(pools if isinstance(pools, Unknown) else blocks)  # type: ignore[arg-type]
        return
    if not pools.pools:
        yield skip("Calico has no pool of addresses.", evidence=[seen("IPPools", 0, pools)])
        return
    for version in sorted({pool.version for pool in pools.pools}):
        family = [pool for pool in pools.pools if pool.version == version]
        room, used = sum(pool.blocks for pool in family), blocks.blocks.get(version, 0)
        shown = ", ".join(f"{pool.cidr} in /{pool.block_size}" for pool in family[:3])
        yield measure(
            BLOCKS,
            subject=f"IPv{version} blocks",
            used=used,
            limit=room,
            summary=f"{used:,} of {room:,} blocks of {shown} are held.",
            evidence=[
                seen("pools", shown, pools),
                seen("blocks held", used, blocks),
                seen("full blocks", blocks.full, blocks),
                seen("nodes", nodes.count, nodes),
            ],
        )
    if isinstance(pods, Unknown):
        yield unknown(pods, subject="leaked addresses")
        return
    expected = pods.active + nodes.count * ADDRESSES_PER_NODE
    evidence = [
        seen("addresses allocated", blocks.allocated, blocks),
        seen("pods", pods.active, pods),
        Evidence(
            what="most that these need", value=f"{expected:,}", source="pods and tunnels of nodes"
        ),
    ]
    if blocks.allocated > 2 * expected and blocks.allocated - expected >= WORTH_NAMING:
        yield fail(
            f"{blocks.allocated:,} addresses are allocated for {pods.active:,} pods: "
            "the rest leaked.",
            subject="leaked addresses",
            evidence=evidence,
        )
    else:
        yield ok(
            f"{blocks.allocated:,} addresses are allocated for {pods.active:,} pods.",
            subject="leaked addresses",
            evidence=evidence,
        )
