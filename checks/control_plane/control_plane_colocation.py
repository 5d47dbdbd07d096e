"""API035: control-plane nodes that take workloads."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    ControlPlane,
    Finding,
    Nodes,
    Provider,
    Scale,
    Severity,
    Unknown,
    Why,
    check,
    fail,
    ok,
    seen,
    skip,
    unknown,
)


@check(
    id="API035",
    area=Area.CONTROL_PLANE,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://openai.com/index/scaling-kubernetes-to-7500-nodes",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
    ),
    effort="1 hour",
    risk="medium",
)
def control_plane_colocation(
    nodes: Nodes,
    plane: ControlPlane | Unknown,
    provider: Provider | Unknown,
    scale: Scale,
    *,
    from_nodes: int = 500,
) -> Iterator[Finding]:
    r"""Workloads may run on the nodes of the control plane and etcd.

    ## Why it breaks
    etcd waits for the disk, and the API server's memory grows with the nodes. A workload beside
    them takes both away at the worst time, and an eviction on that node is one in the control
    plane. Published clusters of thousands of nodes keep API servers and etcd on machines of their
    own.

    ## Fix
    Taint the control-plane nodes, and move away what runs there.

    ```shell
    kubectl taint nodes -l node-role.kubernetes.io/control-plane \
      node-role.kubernetes.io/control-plane:NoSchedule
    ```

    ## Verify
    ```shell
    kubectl get nodes -l node-role.kubernetes.io/control-plane \
      -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints[*].key
    ```
    """
    evidence = [
        seen("control-plane nodes", nodes.control_plane, nodes),
        seen("with their taint", nodes.tainted_control_plane, nodes),
    ]
    if not nodes.control_plane:
        yield _without(nodes, plane, provider)
        return
    bare = nodes.control_plane - nodes.tainted_control_plane
    if bare <= 0:
        yield ok(
            f"All {nodes.control_plane} control-plane nodes keep workloads off.", evidence=evidence
        )
    elif isinstance(provider, Provider) and provider.local:
        yield skip(
            "A development cluster on one machine has nowhere else to run workloads.",
            evidence=[*evidence, seen("provider", provider.name, provider)],
        )
    elif scale.target <= from_nodes:
        yield ok(
            f"{bare} of {nodes.control_plane} control-plane nodes take workloads, which a target "
            f"of {scale.target:,} nodes bears.",
            evidence=evidence,
        )
    else:
        yield fail(
            f"{bare} of {nodes.control_plane} control-plane nodes take workloads, and "
            f"{scale.target:,} nodes are wanted.",
            evidence=evidence,
        )


def _without(nodes: Nodes, plane: ControlPlane | Unknown, provider: Provider | Unknown) -> Finding:
    evidence = [seen("nodes with a control-plane label", 0, nodes)]
    if isinstance(provider, Provider) and provider.managed:
        return skip(
            f"{provider.name} keeps the control plane on machines of its own.",
            evidence=[*evidence, seen("provider", provider.name, provider)],
        )
    if isinstance(plane, ControlPlane):
        return unknown(
            why=Why.NOT_IN_API,
            summary="The control plane runs on nodes of the cluster, and none is labelled so.",
            lift="Label its nodes node-role.kubernetes.io/control-plane.",
            evidence=evidence,
        )
    if plane.why is not Why.NOT_IN_API:
        return unknown(plane, evidence=evidence)
    return skip("No node of the cluster runs the control plane.", evidence=evidence)
