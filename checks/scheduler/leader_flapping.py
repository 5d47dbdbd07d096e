"""SCHED010: leaders of the control plane that lose their lease."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlaneLeases,
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
    id="SCHED010",
    area=Area.SCHEDULER,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/architecture/leases/",
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/",
    ),
    effort="half a day",
    risk="low",
)
def leader_flapping(leases: ControlPlaneLeases, *, most_a_day: float = 3.0) -> Iterator[Finding]:
    r"""The scheduler or the controller manager loses its lease again and again.

    ## Why it breaks
    A leader renews its lease every two seconds and gives up after ten without an answer; another
    one takes over when the fifteen seconds of the lease are over, and first reads the whole
    cluster. Nothing is scheduled meanwhile. Leases change hands at upgrades; more often than that
    it is the API server or etcd that does not answer in time, and both get slower with size. The
    lease says only how often in its whole life, so a bad day in a good year is not seen.

    ## Fix
    Mend the latency of etcd and the API server first: the lease is their first victim.

    ```shell
    kubectl get --raw /metrics | grep -E '^etcd_request_duration_seconds_(sum|count)' | grep leases
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get leases kube-scheduler kube-controller-manager \
      -o custom-columns=NAME:.metadata.name,CHANGES:.spec.leaseTransitions
    ```
    """
    if not leases.leaders:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="kube-system has no lease of the scheduler or the controller manager.",
            lift="Look for leader changes in the logs of the control plane.",
            evidence=[seen("leases of leaders", 0, leases)],
        )
        return
    for one in leases.leaders:
        subject = f"Lease kube-system/{one.name}"
        # A young lease has had no day yet over which to spread its changes.
        a_day = one.transitions / max(one.days, 1.0)
        evidence = [
            Evidence(what="leaseTransitions", value=f"{one.transitions:,}", source=subject),
            Evidence(what="days", value=f"{one.days:,.1f}", source=subject),
        ]
        summary = (
            f"{one.name} changed its leader {one.transitions:,} times in {one.days:,.0f} days."
        )
        if a_day > most_a_day:
            yield fail(summary, subject=subject, evidence=evidence)
        else:
            yield ok(summary, subject=subject, evidence=evidence)
