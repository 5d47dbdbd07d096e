"""CNI012: the AWS VPC CNI hands out single addresses."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    DaemonSets,
    Evidence,
    Finding,
    Nodes,
    Pods,
    Scale,
    Seen,
    Severity,
    Unknown,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
    warn,
)

SWITCH = "ENABLE_PREFIX_DELEGATION"


@check(
    id="CNI012",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html",
        "https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses.html",
    ),
    effort="half a day",
    risk="medium",
)
def vpc_cni_prefix_delegation(
    sets: DaemonSets,
    nodes: Nodes,
    pods: Pods | Unknown,
    scale: Scale,
    *,
    full_percent: int = 80,
    from_nodes: int = 500,
) -> Iterator[Finding]:
    """The AWS VPC CNI takes addresses one by one instead of in blocks of sixteen.

    ## Why it breaks
    Without prefix delegation a node holds interfaces × (addresses − 1) + 2 pods: 29 on an
    m5.large, whatever else it could carry. More pods mean more interfaces, and attaching one takes
    up to ten seconds and several calls of an EC2 API that all nodes of the account share. A /28
    prefix is attached in less than one second.

    ## Fix
    Turn prefix delegation on, then let new nodes compute their number of pods again.

    ```shell
    kubectl -n kube-system set env daemonset aws-node ENABLE_PREFIX_DELEGATION=true
    ```

    ## Verify
    ```shell
    kubectl -n kube-system describe daemonset aws-node | grep ENABLE_PREFIX_DELEGATION
    kubectl get nodes -o custom-columns=NODE:.metadata.name,PODS:.status.allocatable.pods
    ```
    """
    agent = sets.named("aws-node")
    if agent is None:
        yield skip(
            "The AWS VPC CNI is not among the DaemonSets.",
            evidence=[seen("DaemonSets", sets.count, sets)],
        )
        return
    value = agent.settings.get(SWITCH)
    evidence = [
        Evidence(
            what=SWITCH, value=value or "not set (false)", source=agent.subject, seen=Seen.DECLARED
        ),
        seen("pod slots", nodes.pod_slots, nodes),
    ]
    if value == "true":
        yield ok("Nodes take addresses in prefixes.", subject=agent.subject, evidence=evidence)
        return
    if isinstance(pods, Pods) and nodes.pod_slots:
        percent = 100 * pods.active / nodes.pod_slots
        evidence.append(seen("pods", pods.active, pods))
        if percent >= full_percent:
            yield fail(
                f"{pods.active:,} pods fill {percent:.0f} % of {nodes.pod_slots:,} slots, "
                "and slots are bound to single addresses.",
                subject=agent.subject,
                evidence=evidence,
            )
            return
    if scale.target >= from_nodes:
        yield warn(
            f"Nodes take addresses one by one, and {scale.target:,} nodes would share "
            "the EC2 API for it.",
            subject=agent.subject,
            severity=Severity.MEDIUM,
            evidence=evidence,
        )
    elif isinstance(pods, Unknown):
        yield unknown(pods, subject=agent.subject, evidence=evidence)
    elif not nodes.pod_slots:
        yield unknown(
            summary="The nodes do not say how many pods they hold.",
            subject=agent.subject,
            evidence=evidence,
        )
    else:
        yield ok(
            "Nodes take addresses one by one, and pods leave slots free.",
            subject=agent.subject,
            evidence=evidence,
        )
