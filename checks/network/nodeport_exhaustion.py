"""PROXY010: node ports left for new Services."""

import re
from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Dimension,
    Evidence,
    Finding,
    Growth,
    LimitKind,
    Scale,
    Seen,
    Services,
    Severity,
    SourceClass,
    Unknown,
    Why,
    check,
    flag_evidence,
    measure,
    seen,
    unknown,
)

PORTS = Dimension(
    "node-ports",
    unit="ports",
    grows=Growth.LINEAR,
    title="Node ports",
    runs_out="Node ports run out",
    kind=LimitKind.CONFIGURED,
    basis=SourceClass.HARD,
)
FLAG = "service-node-port-range"
DEFAULT = "30000-32767"
FEW_NODES = 10


@check(
    id="PROXY010",
    area=Area.NETWORK,
    severity=Severity.MEDIUM,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/services-networking/service/",
        "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/",
    ),
    effort="1 hour",
    risk="low",
)
def nodeport_exhaustion(
    services: Services, plane: ControlPlane | Unknown, scale: Scale
) -> Iterator[Finding]:
    r"""Node ports are one range for the whole cluster, and load balancers take of it too.

    ## Why it breaks
    30000–32767 are 2,768 ports. Each port of a Service of type NodePort takes one, and so does
    each port of type LoadBalancer, even where the balancer sends straight to pods and never uses
    it. When the range is full, new Services of both types are refused.

    ## Fix
    Set `allocateLoadBalancerNodePorts: false` on load balancers that send straight to pods.

    ```yaml
    apiVersion: v1
    kind: Service
    metadata:
      name: web
    spec:
      type: LoadBalancer
      allocateLoadBalancerNodePorts: false
      selector:
        app: web
      ports:
        - port: 443
          targetPort: 8443
    ```

    ## Verify
    ```shell
    kubectl get services -A -o jsonpath='{range .items[*].spec.ports[*]}{.nodePort}{"\n"}{end}' | sort -u | wc -l
    ```
    """
    flag = ""
    if isinstance(plane, Unknown) and plane.why is not Why.MANAGED:
        yield unknown(plane, subject="node ports")
        return
    if isinstance(plane, Unknown):
        row = Evidence(
            what=f"--{FLAG}", value=f"not seen ({DEFAULT})", source="default", seen=Seen.ASSUMED
        )
    else:
        servers = plane.component("kube-apiserver")
        if isinstance(servers, Unknown):
            yield unknown(servers, subject="node ports")
            return
        flag = servers[0].flags.get(FLAG, "")
        row = flag_evidence(servers[0], FLAG, f"default {DEFAULT}")
    size = _size(flag or DEFAULT)
    used = services.node_ports
    evidence = [row, seen("node ports", used, services)]
    if isinstance(plane, Unknown) and used > size:
        # More are taken than the default has: the range is another one.
        yield unknown(plane, subject="node ports", evidence=evidence)
        return
    yield measure(
        PORTS,
        subject="node ports",
        used=used,
        limit=size,
        constant=used if scale.nodes < FEW_NODES and used < 0.8 * size else 0,
        summary=f"{used:,} of {size:,} node ports are taken.",
        evidence=evidence,
    )


def _size(text: str) -> int:
    """How many ports a range has: "30000-32767" or "30000+2767"."""
    match = re.fullmatch(r"(\d+)([-+])(\d+)", text.strip())
    if match is None:
        return 1 if text.strip().isdigit() else _size(DEFAULT)
    first, sign, last = int(match.group(1)), match.group(2), int(match.group(3))
    return max(last - first if sign == "-" else last, 0) + 1
