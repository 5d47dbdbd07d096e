"""CNI013: the AWS VPC CNI keeps many idle addresses."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    DaemonSets,
    Evidence,
    Finding,
    Nodes,
    Scale,
    Seen,
    Severity,
    check,
    ok,
    seen,
    skip,
    warn,
)

# Pods a node holds without prefixes → usable addresses of one interface, where only one
# combination of the EC2 documentation gives that number: interfaces × usable + 2.
USABLE = {
    4: 1, 8: 3, 11: 3, 17: 5, 29: 9, 35: 11, 58: 14, 234: 29, 345: 49, 394: 49, 737: 49
}  # fmt: skip


@check(
    id="CNI013",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html",
        "https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
        "https://github.com/aws/amazon-vpc-cni-k8s/issues/2804",
    ),
    effort="1 hour",
    risk="low",
)
def vpc_cni_warm_pool(
    sets: DaemonSets, nodes: Nodes, scale: Scale, *, from_nodes: int = 10
) -> Iterator[Finding]:
    """Each node keeps a whole spare network interface of addresses that nobody uses.

    ## Why it breaks
    With WARM_ENI_TARGET at its default of 1 each node attaches one interface more than it needs:
    up to 9 idle addresses on an m5.large, 29 or 49 on large machines. They are taken from the
    subnet, so pods fail with "failed to assign an IP address" while far fewer pods than addresses
    exist. New nodes take theirs first.

    ## Fix
    Set MINIMUM_IP_TARGET to the pods of a node and WARM_IP_TARGET to a few, or use prefixes.

    ```shell
    kubectl -n kube-system set env daemonset aws-node MINIMUM_IP_TARGET=20 WARM_IP_TARGET=3
    ```

    Low targets mean more EC2 calls: on large clusters with much churn, prefix delegation is the
    better way.

    ## Verify
    ```shell
    kubectl -n kube-system describe daemonset aws-node | grep -E 'WARM|MINIMUM'
    ```
    """
    agent = sets.named("aws-node")
    if agent is None:
        yield skip(
            "The AWS VPC CNI is not among the DaemonSets.",
            evidence=[seen("DaemonSets", sets.count, sets)],
        )
        return
    settings = agent.settings

    def row(name: str, default: str) -> Evidence:
        return Evidence(
            what=name,
            value=settings.get(name) or f"not set ({default})",
            source=agent.subject,
            seen=Seen.DECLARED,
        )

    if settings.get("ENABLE_PREFIX_DELEGATION") == "true":
        prefixes = int(settings.get("WARM_PREFIX_TARGET") or 1)
        evidence = [row("ENABLE_PREFIX_DELEGATION", "false"), row("WARM_PREFIX_TARGET", "1")]
        targeted = any(
            int(settings.get(name) or 0) for name in ("WARM_IP_TARGET", "MINIMUM_IP_TARGET")
        )
        if prefixes > 1 and not targeted and scale.nodes >= from_nodes:
            yield warn(
                f"Each node keeps {prefixes} spare prefixes, {16 * prefixes} addresses: "
                f"{16 * prefixes * nodes.count:,} on {nodes.count:,} nodes.",
                subject=agent.subject,
                severity=Severity.LOW,
                evidence=evidence,
            )
        else:
            yield ok(
                "Nodes keep at most one spare prefix.", subject=agent.subject, evidence=evidence
            )
        return
    evidence = [
        row("WARM_ENI_TARGET", "1"),
        row("WARM_IP_TARGET", "none"),
        row("MINIMUM_IP_TARGET", "none"),
    ]
    # Either of the address targets takes the place of the interface target.
    if any(int(settings.get(name) or 0) for name in ("WARM_IP_TARGET", "MINIMUM_IP_TARGET")):
        yield ok(
            "Spare addresses are counted one by one.", subject=agent.subject, evidence=evidence
        )
        return
    interfaces = int(settings.get("WARM_ENI_TARGET") or 1)
    if not interfaces or scale.nodes < from_nodes:
        yield ok(
            f"{nodes.count:,} nodes keep {interfaces} spare interfaces each.",
            subject=agent.subject,
            evidence=evidence,
        )
        return
    idle, told = 0, 0
    for pool in nodes.pools:
        usable = USABLE.get(pool.pod_slots // pool.nodes if pool.nodes else 0)
        if usable:
            idle += usable * interfaces * pool.nodes
            told += pool.nodes
            evidence.append(
                Evidence(
                    what=f"idle addresses on each node of {pool.name}",
                    value=f"up to {usable * interfaces}",
                    source="pods that a node holds",
                    seen=Seen.INFERRED,
                )
            )
    if told:
        at_target = idle * scale.target // told
        words = (
            f"up to {idle:,} idle addresses on {told:,} nodes, {at_target:,} on {scale.target:,}"
        )
    else:
        words = f"{nodes.count:,} nodes with a whole interface of idle addresses each"
    yield warn(
        f"Each node keeps {interfaces} spare network interface"
        f"{'s' if interfaces > 1 else ''}: {words}.",
        subject=agent.subject,
        evidence=evidence,
    )
