"""AS002: the autoscaler's own ceiling."""

import re
from collections.abc import Iterator

from kauditor.api import (
    AddOn,
    AddOns,
    Area,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Provider,
    Seen,
    Severity,
    SourceClass,
    Stated,
    Unknown,
    Why,
    check,
    measure,
    seen,
    skip,
    unknown,
)

CEILING = Dimension(
    "autoscaler-max-nodes",
    unit="nodes",
    grows=Growth.WALL,
    title="Autoscaler node cap",
    runs_out="The autoscaler's node cap is reached",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)
GROUP = re.compile(r"(\d+):(\d+):(\S+)")


@check(
    id="AS002",
    area=Area.AUTOSCALING,
    severity=Severity.CRITICAL,
    since="0.1",
    references=("https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md",),
    effort="10 minutes",
    risk="low",
)
def max_nodes_below_target(
    add_ons: AddOns | Unknown, nodes: Nodes, provider: Provider | Unknown, stated: Stated
) -> Iterator[Finding]:
    """The cluster autoscaler stops at the ceiling it was given.

    ## Why it breaks
    The autoscaler adds no node above `--max-nodes-total`, nor above the sum of its groups' maxima
    and the nodes outside all groups: the lower one binds. Pods then stay pending, and nothing is
    broken that an alert would show.

    ## Fix
    Raise `--max-nodes-total` and the groups' maxima above the target before the growth step.

    ```shell
    kubectl -n kube-system edit deployment cluster-autoscaler
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployment cluster-autoscaler -o yaml | grep -E 'max-nodes-total|--nodes='
    ```
    """
    if stated.max_nodes is not None:
        yield _measured(
            stated.max_nodes, nodes, "autoscaler", [seen("most nodes", stated.max_nodes, stated)]
        )
        return
    if isinstance(add_ons, Unknown):
        yield unknown(add_ons)
        return
    scalers = add_ons.role("cluster-autoscaler")
    if not scalers:
        yield _without(add_ons, provider)
        return
    for scaler in scalers:
        yield _ceiling(scaler, nodes)


def _ceiling(scaler: AddOn, nodes: Nodes) -> Finding:
    total = int(scaler.flags.get("max-nodes-total", "0") or 0)
    groups = GROUP.findall(scaler.flags.get("nodes", ""))
    evidence = [
        Evidence(
            what="--max-nodes-total",
            value=f"{total:,}" if total else "not set (no limit)",
            source=scaler.subject,
            seen=Seen.DECLARED,
        )
    ]
    reaches = [total] if total else []
    if groups:
        largest = sum(int(most) for _, most, _ in groups)
        # Which nodes belong to a group is the cloud's knowledge; the control plane never does.
        reaches.append(largest + nodes.control_plane)
        evidence.append(
            Evidence(
                what="maxima of its groups",
                value=f"{largest:,} in {len(groups)}, and {nodes.control_plane} nodes outside",
                source=scaler.subject,
                seen=Seen.DECLARED,
            )
        )
    if not reaches:
        return unknown(
            why=Why.NOT_IN_API,
            summary="The autoscaler finds its groups in the cloud, and their maxima stand there.",
            lift="State their sum: [facts.autoscaler] max-nodes in kauditor.toml.",
            subject=scaler.subject,
            evidence=evidence,
        )
    return _measured(min(reaches), nodes, scaler.subject, evidence)


def _measured(limit: int, nodes: Nodes, subject: str, evidence: list[Evidence]) -> Finding:
    return measure(
        CEILING,
        subject=subject,
        used=nodes.count,
        limit=limit,
        summary=f"The autoscaler adds no node above {limit:,}; there are {nodes.count:,}.",
        evidence=[*evidence, seen("nodes", nodes.count, nodes)],
    )


def _without(add_ons: AddOns, provider: Provider | Unknown) -> Finding:
    if isinstance(provider, Unknown):
        return unknown(provider)
    if provider.name in ("gke", "aks"):
        return unknown(
            why=Why.MANAGED,
            summary=f"{provider.name} scales nodes itself, and its ceilings are not shown.",
            lift="State their sum: [facts.autoscaler] max-nodes in kauditor.toml.",
        )
    return skip(
        "No cluster autoscaler runs here.",
        evidence=[seen("Deployments", add_ons.deployments, add_ons)],
    )
