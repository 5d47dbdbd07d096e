"""CNI003: Typha missing, or with too few replicas."""

from collections.abc import Iterator
from math import ceil

from kauditor.api import (
    AddOns,
    Area,
    Cni,
    Dimension,
    Finding,
    Growth,
    LimitKind,
    Nodes,
    Scale,
    Severity,
    SourceClass,
    SystemConfig,
    Unknown,
    Why,
    check,
    measure,
    seen,
    skip,
    unknown,
)

TYPHA = Dimension(
    "typha-replicas",
    unit="nodes",
    grows=Growth.WALL,
    title="Typha replicas",
    runs_out="Typha capacity runs out",
    kind=LimitKind.CAPACITY,
    basis=SourceClass.OFFICIAL,
)
# Recommended above 50 nodes; one replica for at most 200, at least 3 [CALTYPHA].
NODES_WITHOUT = 50
NODES_PER_REPLICA = 200
LEAST = 3


@check(
    id="CNI003",
    area=Area.NETWORK,
    severity=Severity.HIGH,
    since="0.1",
    references=(
        "https://docs.tigera.io/calico/latest/getting-started/kubernetes/self-managed-onprem/onpremises",
        "https://github.com/projectcalico/calico/issues/2933",
    ),
    effort="1 hour",
    risk="low",
)
def calico_typha(
    cni: Cni, add_ons: AddOns, config: SystemConfig | Unknown, nodes: Nodes, scale: Scale
) -> Iterator[Finding]:
    """Calico's agents watch the API server from every node unless Typha stands between.

    ## Why it breaks
    Without Typha each node's Felix watches nodes, pods and policies by itself, so the API server
    sends every change to every node: the load grows with the square of the nodes. Calico
    recommends Typha above 50 nodes and calls it essential above 100. The documented minimum is
    max(3, ⌈nodes / 200⌉) replicas; the Tigera operator's own rule is ⌈nodes / 200⌉ + 2.

    ## Fix
    Run Typha with at least max(3, ⌈nodes / 200⌉) replicas, or let the Tigera operator scale it.

    ```shell
    kubectl -n kube-system scale deployment calico-typha --replicas=REPLICAS
    ```

    ## Verify
    ```shell
    kubectl -n kube-system get deployment calico-typha
    ```
    """
    if cni.name not in ("calico", "canal"):
        yield skip(
            f"The network plugin is {cni.name}, not Calico."
            if cni.name
            else "No Calico is among the DaemonSets.",
            evidence=[seen("network plugin", cni.name or "none recognised", cni)],
        )
        return
    if cni.datastore and cni.datastore != "kubernetes":
        yield skip(
            "Calico keeps its data in etcd of its own, where Typha is not needed.",
            evidence=[seen("datastore", cni.datastore, cni)],
        )
        return
    if not cni.datastore:
        yield unknown(
            why=Why.NOT_IN_API,
            summary="calico-node does not say which datastore it uses.",
            lift="Set DATASTORE_TYPE on the calico-node DaemonSet.",
        )
        return
    needed = max(LEAST, ceil(scale.target / NODES_PER_REPLICA))
    operator = ceil(scale.target / NODES_PER_REPLICA) + 2
    typhas = add_ons.role("typha")
    replicas = sum(typha.replicas for typha in typhas)
    evidence = [
        seen("Typha replicas", replicas, add_ons),
        seen("datastore", cni.datastore, cni),
        seen("nodes", nodes.count, nodes),
    ]
    if replicas and isinstance(config, Unknown):
        # Agents can be told to go past Typha, in a ConfigMap that could not be read.
        yield unknown(config, subject="calico-typha", evidence=evidence)
        return
    switched_off = isinstance(config, SystemConfig) and config.calico_typha == "none"
    if isinstance(config, SystemConfig) and config.calico_typha is not None:
        evidence.append(seen("typha_service_name", config.calico_typha or "not set", config))
    advice = (
        f"{scale.target:,} nodes need {needed} by the documented minimum "
        f"(the operator would run {operator})."
    )
    # Agents that are told "none" go past a Typha that runs.
    if not replicas or switched_off:
        yield measure(
            TYPHA,
            subject="calico-typha",
            used=nodes.count,
            limit=NODES_WITHOUT,
            summary=f"Calico runs without Typha on {nodes.count:,} nodes; {advice}",
            evidence=evidence,
        )
        return
    yield measure(
        TYPHA,
        subject="calico-typha",
        used=nodes.count,
        limit=replicas * NODES_PER_REPLICA if replicas >= LEAST else NODES_WITHOUT,
        summary=f"Typha runs {replicas} replicas; {advice}",
        evidence=evidence,
    )
