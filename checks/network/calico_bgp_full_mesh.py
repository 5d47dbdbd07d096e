"""CNI002: Calico's node-to-node mesh."""

from collections.abc import Iterator

from kauditor.api import (
    Area,
    BgpConfigurations,
    BgpPeers,
    Cni,
    DaemonSets,
    Dimension,
    Evidence,
    Finding,
    Growth,
    IpPools,
    LimitKind,
    Nodes,
    Scale,
    Severity,
    SourceClass,
    Unknown,
    check,
    measure,
    ok,
    seen,
    skip,
    unknown,
)

MESH = Dimension(
    "bgp-mesh",
    unit="nodes",
    grows=Growth.WALL,
    title="BGP mesh",
    runs_out="The BGP mesh grows too dense",
    kind=LimitKind.ENVELOPE,
    basis=SourceClass.OFFICIAL,
    guidance=True,
)
# Up to about this size a full mesh is advised [CALBGP].
LIMIT = 100
BACKEND = "CALICO_NETWORKING_BACKEND"


@check(
    id="CNI002",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://docs.tigera.io/calico/latest/networking/configuring/bgp",
        "https://github.com/projectcalico/calico/issues/9976",
    ),
    effort="1 day",
    risk="high",
)
def calico_bgp_full_mesh(
    cni: Cni,
    sets: DaemonSets,
    configurations: BgpConfigurations | Unknown,
    peers: BgpPeers | Unknown,
    pools: IpPools | Unknown,
    nodes: Nodes,
    scale: Scale,
) -> Iterator[Finding]:
    """Every node speaks BGP to every other node.

    ## Why it breaks
    A full mesh is Calico's default: n − 1 sessions on each node, n(n − 1)/2 in all. Calico advises
    it up to about 100 nodes. At 800 nodes that is 799 sessions each and 319,600 in all; there,
    after a restart of calico-node, routes took four minutes and traffic was lost meanwhile.

    ## Fix
    Name two or three nodes of each zone route reflectors, peer with them, then turn the mesh off.

    ```shell
    kubectl annotate node NODE projectcalico.org/RouteReflectorClusterID=244.0.0.1
    calicoctl patch bgpconfiguration default -p '{"spec":{"nodeToNodeMeshEnabled":false}}'
    ```

    ## Verify
    ```shell
    kubectl get bgpconfigurations.crd.projectcalico.org default -o yaml
    kubectl get bgppeers.crd.projectcalico.org
    ```
    """
    if cni.name != "calico":
        yield skip(
            "flannel routes and Calico only filters: there is no mesh."
            if cni.name == "canal"
            else f"The network plugin is {cni.name}, not Calico."
            if cni.name
            else "No Calico is among the DaemonSets.",
            evidence=[seen("network plugin", cni.name or "none recognised", cni)],
        )
        return
    agent = sets.named("calico-node")
    backend = agent.settings.get(BACKEND, "") if agent else ""
    other = sets.named("aws-node", "azure-cns")
    if other is not None or backend in ("vxlan", "none"):
        yield skip(
            f"{other.subject} routes and Calico only filters: there is no mesh."
            if other
            else "Calico does not speak BGP here.",
            evidence=[
                Evidence(what="DaemonSet", value=other.name, source=other.subject)
                if other
                else Evidence(what=BACKEND, value=backend, source=cni.subject)
            ],
        )
        return
    if cni.datastore and cni.datastore != "kubernetes":
        yield unknown(
            summary="Calico keeps its BGP settings in an etcd of its own.",
            lift="calicoctl get bgpconfiguration default -o yaml",
            evidence=[seen("datastore", cni.datastore, cni)],
        )
        return
    if isinstance(configurations, Unknown):
        yield unknown(configurations)
        return
    evidence = [
        seen(
            "nodeToNodeMeshEnabled",
            "not set (on)" if configurations.mesh is None else configurations.mesh,
            configurations,
        ),
        seen("route reflectors", nodes.route_reflectors, nodes),
    ]
    if isinstance(peers, BgpPeers):
        evidence.append(seen("BGPPeers", peers.count, peers))
    if configurations.mesh is False:
        yield ok("The node-to-node mesh is off.", evidence=evidence)
        return
    if nodes.route_reflectors:
        yield ok(f"{nodes.route_reflectors} nodes are route reflectors.", evidence=evidence)
        return
    if backend != "bird":
        if isinstance(pools, Unknown):
            yield unknown(pools, evidence=evidence)
            return
        modes = {pool.encapsulation for pool in pools.pools}
        evidence.append(seen("pools", ", ".join(sorted(modes)) or "none enabled", pools))
        if modes == {"vxlan"}:
            yield skip(
                "All pools are encapsulated by VXLAN, which needs no BGP.", evidence=evidence
            )
            return
    count, target = nodes.count, scale.target
    yield measure(
        MESH,
        subject="BGP mesh",
        used=count,
        limit=LIMIT,
        summary=(
            f"{count:,} nodes hold {count - 1:,} BGP sessions each, {_sessions(count):,} in all; "
            f"{target:,} nodes would hold {_sessions(target):,}. "
            f"A full mesh is advised up to about {LIMIT} nodes."
        ),
        evidence=[
            seen("sessions on each node", count - 1, nodes),
            seen("sessions in all", _sessions(count), nodes),
            *evidence,
        ],
    )


def _sessions(nodes: int) -> int:
    return nodes * (nodes - 1) // 2
