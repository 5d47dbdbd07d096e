"""SCHED001: the scheduler's own client rate caps pods bound per second."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Pods,
    Scale,
    Seen,
    Severity,
    SourceClass,
    Stated,
    Unknown,
    Why,
    check,
    flag_evidence,
    measure,
    ok,
    seen,
    unknown,
    warn,
)

RECOVERY = Dimension(
    "zone-recovery-seconds",
    unit="seconds",
    grows=Growth.PODS,
    title="Scheduler bind rate",
    runs_out="Scheduler throughput runs out",
    kind=LimitKind.LATENCY,
    basis=SourceClass.FIELD,
)
DEFAULT_QPS = 50.0


@check(
    id="SCHED001",
    area=Area.SCHEDULER,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/",
        "https://github.com/kubernetes/community/blob/main/sig-scalability/slos/slos.md",
    ),
    effort="10 minutes",
    risk="low",
)
def scheduler_client_rate_ceiling(
    plane: ControlPlane | Unknown,
    nodes: Nodes,
    pods: Pods | Unknown,
    scale: Scale,
    stated: Stated,
    *,
    warn_from_nodes: int = 1000,
    recovery_seconds: float = 900.0,
) -> Iterator[Finding]:
    """The scheduler's own client rate caps how many pods it can bind each second.

    ## Why it breaks
    Each bound pod is a write to the API server, and the scheduler's client is limited to 50
    requests a second with bursts of 100 unless told otherwise. After the loss of a zone, all of
    its pods have to be bound again at that rate: the larger the cluster, the longer it takes.
    Upstream tests 5,000 nodes at 100 a second; the service-level objectives presume a churn of at
    most 20 pods a second.

    ## Fix
    Raise the scheduler's client rate to 100 requests a second. First make sure that the API
    server's priority levels have room for it.

    ```yaml
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    clientConnection:
      kubeconfig: /etc/kubernetes/scheduler.conf
      qps: 100
      burst: 200
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-scheduler -o yaml | grep -E 'kube-api-qps|--config'
    ```
    """
    if stated.scheduler_qps is not None:
        qps, row = stated.scheduler_qps, seen("scheduler client rate", stated.scheduler_qps, stated)
        by_default = False
    else:
        if isinstance(plane, Unknown):
            yield unknown(plane)
            return
        schedulers = plane.component("kube-scheduler")
        if isinstance(schedulers, Unknown):
            yield unknown(schedulers)
            return
        scheduler = min(
            schedulers, key=lambda pod: float(pod.flags.get("kube-api-qps", DEFAULT_QPS))
        )
        if "config" in scheduler.flags:
            # A configuration file outweighs the flags, and it stands on the host.
            yield unknown(
                why=Why.NOT_IN_API,
                summary="The scheduler reads its client rate from a file on the host.",
                lift="State it: [facts.scheduler] qps in kauditor.toml.",
                evidence=[flag_evidence(scheduler, "config")],
            )
            return
        by_default = "kube-api-qps" not in scheduler.flags
        qps = float(scheduler.flags.get("kube-api-qps", DEFAULT_QPS))
        row = flag_evidence(scheduler, "kube-api-qps", f"default {DEFAULT_QPS:g}")
    if by_default and scale.target >= warn_from_nodes:
        yield warn(
            f"The scheduler binds at most {qps:g} pods a second by default, "
            f"and {scale.target:,} nodes are wanted.",
            subject="kube-scheduler",
            evidence=[row],
        )
    else:
        yield ok(
            f"The scheduler may send {qps:g} requests a second.",
            subject="kube-scheduler",
            evidence=[row],
        )
    if isinstance(pods, Unknown):
        yield unknown(pods, subject="recovery after a zone is lost")
        return
    zones = max(stated.zones or len(nodes.zones), 1)
    lost = pods.active / zones
    yield measure(
        RECOVERY,
        subject="recovery after a zone is lost",
        used=lost / qps,
        limit=recovery_seconds,
        summary=(
            f"Binding the pods of one of {zones} zones again would take "
            f"{lost / qps:,.0f} s of {recovery_seconds:,.0f} s."
        ),
        evidence=[
            row,
            seen("unfinished pods", pods.active, pods),
            Evidence(
                what="zones", value=str(zones), source=nodes.origin.read_from, seen=Seen.MEASURED
            ),
        ],
    )
