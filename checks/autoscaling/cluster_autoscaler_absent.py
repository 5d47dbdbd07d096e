"""AS001: nothing adds nodes."""

from collections.abc import Iterator

from kauditor.api import (
    AddOns,
    Area,
    Finding,
    Provider,
    Scale,
    Severity,
    Stated,
    Unknown,
    Why,
    check,
    ok,
    seen,
    skip,
    unknown,
    warn,
)


@check(
    id="AS001",
    area=Area.AUTOSCALING,
    severity=Severity.MEDIUM,
    since="0.1",
    references=("https://kubernetes.io/docs/concepts/cluster-administration/node-autoscaling/",),
    effort="1 day",
    risk="medium",
)
def cluster_autoscaler_absent(
    add_ons: AddOns, provider: Provider | Unknown, scale: Scale, stated: Stated
) -> Iterator[Finding]:
    """No node autoscaler is to be seen, and the cluster is to grow.

    ## Why it breaks
    Without an autoscaler somebody has to add every node by hand, and a burst of pods waits for
    that somebody. Large clusters that publish how they work let the cluster scale itself.

    ## Fix
    Run the cluster autoscaler or Karpenter, or state the fixed size that you mean.

    ## Verify
    ```shell
    kubectl get deployments --all-namespaces | grep -E 'cluster-autoscaler|karpenter'
    ```
    """
    found = (*add_ons.role("cluster-autoscaler"), *add_ons.role("karpenter"))
    if found:
        yield ok(
            f"{found[0].name} adds nodes.",
            subject=found[0].subject,
            evidence=[seen("node autoscalers", len(found), add_ons)],
        )
        return
    if stated.max_nodes is not None:
        yield ok(
            "A ceiling of the autoscaler is stated.",
            evidence=[seen("most nodes", stated.max_nodes, stated)],
        )
        return
    if isinstance(provider, Unknown):
        yield unknown(provider)
        return
    evidence = [seen("Deployments", add_ons.deployments, add_ons)]
    if provider.managed:
        yield unknown(
            why=Why.MANAGED,
            summary=f"{provider.name} may scale nodes itself, which can't be seen from inside.",
            lift="State the ceiling: [facts.autoscaler] max-nodes in kauditor.toml.",
            evidence=evidence,
        )
    elif provider.local or scale.target <= scale.nodes:
        yield skip("The cluster is not to grow.", evidence=evidence)
    elif scale.target < 100 or scale.nodes < 10:
        yield ok("A cluster of this size can be grown by hand.", evidence=evidence)
    else:
        yield warn(
            f"No node autoscaler is among {add_ons.deployments:,} Deployments, "
            f"and {scale.target:,} nodes are wanted.",
            subject="node autoscaler",
            evidence=evidence,
        )
