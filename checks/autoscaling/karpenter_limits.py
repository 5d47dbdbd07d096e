"""AS014: a Karpenter NodePool that is near its limits."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    NodePools,
    Nodes,
    Seen,
    Severity,
    SourceClass,
    Unknown,
    Why,
    check,
    in_bytes,
    measure,
    ok,
    seen,
    skip,
    unknown,
)

SHARE = Dimension(
    "karpenter-pool-limits",
    unit="% of the binding resource",
    grows=Growth.FIXED,
    title="Karpenter pool limits",
    runs_out="A Karpenter pool's limits are reached",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)
CEILING = Dimension(
    "karpenter-max-nodes",
    unit="nodes",
    grows=Growth.WALL,
    title="Karpenter node cap",
    runs_out="Karpenter's limits are reached",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)


@check(
    id="AS014",
    area=Area.AUTOSCALING,
    severity=Severity.CRITICAL,
    since="0.1",
    references=(
        "https://karpenter.sh/docs/concepts/nodepools/",
        "https://github.com/aws/karpenter-provider-aws/issues/5975",
    ),
    effort="10 minutes",
    risk="low",
)
def karpenter_limits(
    pools: NodePools | Unknown, add_ons: AddOns | Unknown, nodes: Nodes
) -> Iterator[Finding]:
    """A Karpenter NodePool adds no node beyond its limits, and says something else.

    ## Why it breaks
    A pool's `spec.limits` caps the sum of its nodes' resources. At the cap pods stay pending with
    an error about instance types, so people look for capacity in the cloud and not at the limit.
    The resource that is nearest to its limit binds. A pool without limits is unbounded.

    ## Fix
    Raise the limits of the pool to the target's nodes times a node's resources, with a margin.

    ```shell
    kubectl edit nodepool NAME
    ```

    ## Verify
    ```shell
    kubectl get nodepools -o custom-columns=POOL:.metadata.name,LIMITS:.spec.limits,USED:.status.resources
    ```
    """
    if isinstance(pools, Unknown):
        yield _without(pools, add_ons)
        return
    if not pools.pools:
        yield skip("There are no NodePools.", evidence=[seen("NodePools", 0, pools)])
        return
    reaches: list[float] = []
    bounded = 0
    for pool in pools.pools:
        shares = {
            name: pool.used.get(name, 0.0) / limit for name, limit in pool.limits.items() if limit
        }
        if any(limit == 0 for limit in pool.limits.values()):
            yield ok(f"NodePool {pool.name} is switched off by a limit of 0.", subject=pool.name)
            bounded += 1
            reaches.append(pool.nodes)
            continue
        if not shares:
            yield ok(
                f"NodePool {pool.name} has no limits.",
                subject=f"NodePool {pool.name}",
                evidence=[seen("limits", "none (unbounded)", pools)],
            )
            continue
        bounded += 1
        binding = max(shares, key=lambda name: (shares[name], name))
        used, limit = pool.used.get(binding, 0.0), pool.limits[binding]
        if pool.nodes and used:
            reaches.append(pool.nodes / shares[binding])
        yield measure(
            SHARE,
            subject=f"NodePool {pool.name}",
            used=round(100 * shares[binding], 1),
            limit=100,
            summary=(
                f"NodePool {pool.name} uses {_amount(binding, used)} of "
                f"{_amount(binding, limit)} {binding} ({100 * shares[binding]:.0f} %): "
                f"{binding} binds first."
            ),
            evidence=[
                Evidence(
                    what=name,
                    value=f"{_amount(name, pool.used.get(name, 0.0))} of {_amount(name, amount)}",
                    source=f"NodePool {pool.name}",
                    seen=Seen.DECLARED,
                )
                for name, amount in pool.limits.items()
            ],
        )
    if bounded == len(pools.pools) and len(reaches) == bounded and sum(reaches) > 0:
        within = sum(pool.nodes for pool in pools.pools)
        yield measure(
            CEILING,
            subject="all NodePools",
            used=nodes.count,
            limit=max(nodes.count - within, 0) + sum(int(reach) for reach in reaches),
            summary=(
                f"With nodes as they are, all NodePools together stop at "
                f"{sum(int(reach) for reach in reaches):,} nodes; they have {within:,.0f}."
            ),
            evidence=[
                seen("NodePools", len(pools.pools), pools),
                seen("nodes", nodes.count, nodes),
            ],
        )


def _without(pools: Unknown, add_ons: AddOns | Unknown) -> Finding:
    if pools.why is not Why.NOT_SERVED or isinstance(add_ons, Unknown):
        return unknown(pools if pools.why is not Why.NOT_SERVED else add_ons)  # type: ignore[arg-type]
    if add_ons.role("karpenter"):
        return unknown(pools)
    return skip(
        "Karpenter is not installed.",
        evidence=[seen("Deployments", add_ons.deployments, add_ons)],
    )


def _amount(name: str, amount: float) -> str:
    return in_bytes(amount) if name in ("memory", "ephemeral-storage") else f"{amount:,.0f}"
