"""API030: the controller manager's own client rate."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Finding,
    Scale,
    Severity,
    StaticPod,
    Unknown,
    check,
    flag_evidence,
    ok,
    unknown,
    warn,
)

DEFAULT_QPS = 20.0
# Nodes and the rate advised from there on; between published settings the numbers are ours.
LADDER = ((1000, 100.0), (2000, 200.0), (5000, 500.0))


@check(
    id="API030",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/",
        "https://support.huaweicloud.com/usermanual-cce/cce_10_1112.html",
        "https://github.com/kubernetes/kops/blob/master/tests/e2e/scenarios/scalability/run-test.sh",
    ),
    effort="10 minutes",
    risk="low",
)
def controller_client_rate(plane: ControlPlane, scale: Scale) -> Iterator[Finding]:
    """The controller manager may send 20 requests a second unless it is told otherwise.

    ## Why it breaks
    All controllers share one client: replica sets, endpoints, jobs, garbage collection and node
    eviction. After a large rollout or the loss of a zone their writes grow with the pods, and at
    20 a second (bursts of 30) the queues take hours to drain. Upstream tests 5,000 nodes at 500;
    one provider sets 100, and 200 above 1,000 nodes.

    ## Fix
    Raise the controller manager's client rate, after making sure that priority levels have room.

    ```shell
    # in /etc/kubernetes/manifests/kube-controller-manager.yaml of each control-plane node
    - --kube-api-qps=100
    - --kube-api-burst=200
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get pods -l component=kube-controller-manager -o yaml | grep kube-api
    ```
    """
    subject = "kube-controller-manager"
    managers = plane.component("kube-controller-manager")
    if isinstance(managers, Unknown):
        yield unknown(managers, subject=subject)
        return
    manager = min(managers, key=_rate)
    rate = _rate(manager)
    advised = max((rate for nodes, rate in LADDER if nodes <= scale.target), default=0.0)
    evidence = [
        flag_evidence(manager, "kube-api-qps", f"default {DEFAULT_QPS:g}"),
        flag_evidence(manager, "kube-api-burst", "default 30"),
    ]
    if rate >= advised:
        yield ok(
            f"The controller manager may send {rate:g} requests a second, for a target of "
            f"{scale.target:,} nodes.",
            subject=subject,
            evidence=evidence,
        )
        return
    yield warn(
        f"The controller manager may send {rate:g} requests a second; for {scale.target:,} nodes "
        f"{advised:g} are advised.",
        subject=subject,
        severity=None if rate <= DEFAULT_QPS else Severity.MEDIUM,
        evidence=evidence,
    )


def _rate(manager: StaticPod) -> float:
    try:
        return float(manager.flags.get("kube-api-qps", DEFAULT_QPS))
    except ValueError:
        return DEFAULT_QPS
