"""API003: concurrency limits of the API server left at their defaults."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Evidence,
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

DEFAULTS = {"max-requests-inflight": 400, "max-mutating-requests-inflight": 200}


@check(
    id="API003",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/cluster-administration/flow-control/",
        "https://github.com/kubernetes/kops/blob/master/tests/e2e/scenarios/scalability/run-test.sh",
        "https://docs.aws.amazon.com/eks/latest/best-practices/scale-control-plane.html",
    ),
    effort="1 hour",
    risk="medium",
)
def max_inflight(
    plane: ControlPlane, scale: Scale, *, warn_from_nodes: int = 1000, high_from_nodes: int = 5000
) -> Iterator[Finding]:
    """The API server's concurrency limits stand at the defaults of 400 reads and 200 writes.

    ## Why it breaks
    The sum of both limits is divided among the priority levels, for each API server by itself.
    What does not fit waits and is then refused with 429. The defaults do not follow the size of
    the machine: a server with 64 cores admits as much as one with four. Upstream tests 5,000
    nodes at 640; one managed provider starts at 600 and scales from there. Raise them only as far
    as cores and memory of the control plane go.

    ## Fix
    Raise both limits in proportion to the cores and the memory of the control plane.

    ```shell
    # in /etc/kubernetes/manifests/kube-apiserver.yaml of each control-plane node
    - --max-requests-inflight=800
    - --max-mutating-requests-inflight=400
    ```

    ## Verify
    ```shell
    kubectl get --raw /metrics | grep '^apiserver_flowcontrol_nominal_limit_seats'
    ```
    """
    subject = "kube-apiserver"
    servers = plane.component("kube-apiserver")
    if isinstance(servers, Unknown):
        yield unknown(servers, subject=subject)
        return
    server = min(servers, key=_seats)
    seats = _seats(server)
    evidence: list[Evidence] = [
        flag_evidence(server, flag, f"default {default}") for flag, default in DEFAULTS.items()
    ]
    total = sum(DEFAULTS.values())
    if seats > total or scale.target < warn_from_nodes:
        yield ok(
            f"Each API server admits {seats:,} requests at once, for a target of "
            f"{scale.target:,} nodes.",
            subject=subject,
            evidence=evidence,
        )
        return
    yield warn(
        f"Each API server admits {seats:,} requests at once (the defaults give {total:,}), and "
        f"{scale.target:,} nodes are wanted.",
        subject=subject,
        severity=None if scale.target >= high_from_nodes else Severity.MEDIUM,
        evidence=evidence,
    )


def _seats(server: StaticPod) -> int:
    seats = 0
    for flag, default in DEFAULTS.items():
        try:
            seats += int(server.flags.get(flag, default))
        except ValueError:
            seats += default
    return seats
