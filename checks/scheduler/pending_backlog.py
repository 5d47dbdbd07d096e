"""SCHED002: pods that wait for a node."""

from collections.abc import Iterator

from kauditor.api import Area, Finding, Pods, Scale, Severity, check, ok, seen, warn


@check(
    id="SCHED002",
    area=Area.SCHEDULER,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/",
    ),
    effort="half a day",
    risk="low",
)
def pending_backlog(
    pods: Pods, scale: Scale, *, a_node: float = 2.0, at_least: int = 20
) -> Iterator[Finding]:
    r"""Pods that wait for a node are tried again and again.

    ## Why it breaks
    Each waiting pod is retried with a back-off of at most ten seconds, is looked at by the
    autoscaler in every loop, and gets an Event each time. One provider publishes how many a
    cluster bears: about two a node (100 at 50 nodes, 4,000 at 2,000). Pods that a queueing system
    holds back by a scheduling gate cost nothing and are not counted.

    ## Fix
    Find out what the pods wait for, and hold back by a queue what can't run yet.

    ```shell
    kubectl get events --all-namespaces --field-selector reason=FailedScheduling | tail
    ```

    ## Verify
    ```shell
    kubectl get pods --all-namespaces --field-selector=status.phase=Pending,spec.nodeName= \
      --no-headers | wc -l
    ```
    """
    most = max(a_node * scale.nodes, at_least)
    evidence = [
        seen("pods without a node", pods.waiting, pods),
        seen("held back by a gate, not counted", pods.gated, pods),
    ]
    summary = (
        f"{pods.waiting:,} pods wait for a node; {scale.nodes:,} nodes bear about {most:,.0f}."
    )
    if pods.waiting > most:
        # One provider's table is advice, never more than a medium warning.
        yield warn(summary, severity=Severity.MEDIUM, evidence=evidence)
    else:
        yield ok(summary, evidence=evidence)
