"""SCHED014: two schedulers that place pods on the same nodes."""

from collections.abc import Iterator

from kauditor.api import Area, Finding, Schedulers, Severity, check, ok, seen, warn


@check(
    id="SCHED014",
    area=Area.SCHEDULER,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/",
        "https://kubernetes.io/docs/reference/scheduling/config/",
    ),
    effort="half a day",
    risk="medium",
)
def schedulers_on_shared_nodes(schedulers: Schedulers) -> Iterator[Finding]:
    r"""Two schedulers place pods on the same nodes and race for the same room.

    ## Why it breaks
    Each scheduler decides by its own picture of a node. When two place pods at once, the kubelet
    refuses the later one as OutOfcpu or OutOfpods, and it is created and placed again. The faster
    the cluster starts pods, the more often it happens. Profiles of one scheduler share a picture,
    but carry names of their own: look there first.

    ## Fix
    Give each scheduler nodes of its own by a taint, or make both profiles of one scheduler.

    ```shell
    kubectl taint nodes -l pool=batch dedicated=batch:NoSchedule
    ```

    ## Verify
    ```shell
    kubectl get pods --all-namespaces --no-headers \
      -o custom-columns=NODE:.spec.nodeName,SCHEDULER:.spec.schedulerName | sort | uniq -c
    ```
    """
    words = ", ".join(f"{name} {count:,}" for name, count in schedulers.pods.items())
    evidence = [
        seen("pods by scheduler", words or "none", schedulers),
        seen("nodes shared", schedulers.shared, schedulers),
    ]
    if schedulers.shared:
        yield warn(
            f"On {schedulers.shared:,} of {schedulers.nodes:,} nodes two schedulers place pods "
            f"({', '.join(schedulers.sample)}).",
            evidence=evidence,
        )
    else:
        yield ok("No node gets its pods from two schedulers.", evidence=evidence)
