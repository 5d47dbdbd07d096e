"""CNI020: network agents that are not ready."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    Cni,
    DaemonSets,
    Evidence,
    Finding,
    Severity,
    Why,
    check,
    fail,
    ok,
    seen,
    unknown,
)


@check(
    id="CNI020",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/cluster-administration/networking/",
        "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/",
    ),
    effort="1 hour",
    risk="low",
)
def cni_agent_health(
    cni: Cni, sets: DaemonSets, *, missing_percent: float = 1.0
) -> Iterator[Finding]:
    """The network agent is not ready on all nodes where it should run.

    ## Why it breaks
    A node without its network agent starts no pod and sees no change of routes or policies. What
    keeps an agent down on a few nodes today, a memory limit or a missing priority, takes it down
    on all of them when the cluster grows.

    ## Fix
    Look at the agents that are not ready, and raise what they ran out of.

    ```shell
    kubectl get pods -A -o wide | grep -E 'calico-node|cilium|aws-node|flannel'
    kubectl -n kube-system describe pod AGENT
    ```

    ## Verify
    ```shell
    kubectl get daemonsets -A
    ```
    """
    agent = next((one for one in sets.sets if cni.subject and one.subject == cni.subject), None)
    if agent is None:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="No network plugin was recognised among the DaemonSets.",
            lift="k3s runs it in its own process; others under names that we do not know.",
            evidence=[seen("DaemonSets", sets.count, sets)],
        )
        return
    evidence = [
        Evidence(what="ready", value=f"{agent.ready:,}", source=agent.subject),
        Evidence(what="desired", value=f"{agent.desired:,}", source=agent.subject),
    ]
    missing = agent.desired - agent.ready
    if not agent.desired:
        yield unknown(
            why=Why.NOT_IN_API,
            summary=f"{agent.subject} is wanted on no node.",
            lift="Look at its node selector, and whether another plugin took its place.",
            subject=agent.subject,
            evidence=evidence,
        )
    elif missing > agent.desired * missing_percent / 100:
        yield fail(
            f"{missing:,} of {agent.desired:,} network agents are not ready.",
            subject=agent.subject,
            evidence=evidence,
        )
    else:
        yield ok(
            f"{agent.ready:,} of {agent.desired:,} network agents are ready.",
            subject=agent.subject,
            evidence=evidence,
        )
