"""Nodes: how many, how large, with which address blocks, in which pools and zones."""

from ipaddress import ip_network

import msgspec

from kauditor.model.fact import Fact, Unknown, Why, tallies
from kauditor.model.source import Listing
from kauditor.objects.meta import quantity
from kauditor.objects.node import Node

NODE_LISTING = Listing("v1", "nodes", Node, namespaced=False)

POOL_LABELS = (
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
    "kops.k8s.io/instancegroup",
    "machine.openshift.io/machineset",
    "node.kubernetes.io/instance-type",
)
ZONE_LABEL = "topology.kubernetes.io/zone"
CONTROL_PLANE_LABELS = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
)

# Labels by which a provider or distribution marks its nodes: prefix → mark.
MARKS = (
    ("eks.amazonaws.com/", "eks"),
    ("cloud.google.com/gke-", "gke"),
    ("kubernetes.azure.com/cluster", "aks"),
    ("node.openshift.io/", "openshift"),
    ("node.k0sproject.io/", "k0s"),
    ("minikube.k8s.io/", "minikube"),
)


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of one group. Cores are capacity, summed; slots are allocatable pods, summed."""

    name: str
    nodes: int
    cores: float
    memory_bytes: float
    pod_slots: int


class Blocks(msgspec.Struct, frozen=True, kw_only=True):
    """How many nodes hold a pod block of this IP version and prefix length."""

    version: int
    prefix_length: int
    nodes: int


class Nodes(Fact, frozen=True, kw_only=True):
    """All nodes. Counters only, and one entry a pool, zone or version."""

    count: int
    ready: int
    schedulable: int
    control_plane: int
    tainted_control_plane: int
    cores: float
    schedulable_cores: float
    memory_bytes: float
    largest_cores: float
    pod_slots: int
    blocks: tuple[Blocks, ...]
    without_block: int
    pools: tuple[Pool, ...]
    zones: dict[str, int]
    kubelet_versions: dict[str, int]
    provider_schemes: dict[str, int]
    marks: dict[str, int]
    route_reflectors: int
    flannel_nodes: int
    names_sample: tuple[str, ...]

    @property
    def workers(self) -> int:
        """Nodes that are not control plane, or all where every node is."""
        return self.count - self.control_plane or self.count


@tallies(Nodes, NODE_LISTING)
class NodeTally:
    """Counts nodes."""

    def __init__(self) -> None:
        self.count = self.ready = self.schedulable = 0
        self.control_plane = self.tainted = self.without_block = 0
        self.cores = self.schedulable_cores = self.memory = self.largest = 0.0
        self.slots = self.reflectors = self.flannel = 0
        self.blocks: dict[tuple[int, int], int] = {}
        self.pools: dict[str, list[float]] = {}
        self.zones: dict[str, int] = {}
        self.versions: dict[str, int] = {}
        self.schemes: dict[str, int] = {}
        self.marks: dict[str, int] = {}
        self.names: list[str] = []

    def add(self, node: Node) -> None:
        """Count one node."""
        labels = node.metadata.labels or {}
        capacity = node.status.capacity or {}
        allocatable = node.status.allocatable or {}
        cores, memory = _number(capacity, "cpu"), _number(capacity, "memory")
        slots = int(_number(allocatable, "pods"))
        self.count += 1
        if len(self.names) < 5:
            self.names.append(node.metadata.name)
        conditions = node.status.conditions or []
        self.ready += any(c.type == "Ready" and c.status == "True" for c in conditions)
        taints = node.spec.taints or []
        repelled = node.spec.unschedulable or any(t.effect == "NoSchedule" for t in taints)
        if any(label in labels for label in CONTROL_PLANE_LABELS):
            self.control_plane += 1
            self.tainted += any(t.key in CONTROL_PLANE_LABELS for t in taints)
        self.cores += cores
        self.memory += memory
        self.slots += slots
        self.largest = max(self.largest, cores)
        if not node.spec.unschedulable:
            self.schedulable += 1
            self.schedulable_cores += cores
        pool = self.pools.setdefault(_pool(labels, repelled), [0, 0.0, 0.0, 0])
        for place, amount in enumerate((1, cores, memory, slots)):
            pool[place] += amount
        _bump(self.zones, labels.get(ZONE_LABEL, ""))
        _bump(self.versions, node.status.node_info.kubelet_version)
        _bump(self.schemes, node.spec.provider_id.partition("://")[0])
        for prefix, mark in MARKS:
            if any(label.startswith(prefix) for label in labels):
                _bump(self.marks, mark)
        self._count_blocks(node)
        annotations = node.metadata.annotations or {}
        self.reflectors += any("RouteReflectorClusterID" in key for key in annotations)
        self.flannel += any(key.startswith("flannel.alpha.coreos.com/") for key in annotations)

    def _count_blocks(self, node: Node) -> None:
        cidrs = node.spec.pod_cidrs or ([node.spec.pod_cidr] if node.spec.pod_cidr else [])
        self.without_block += not cidrs
        for cidr in cidrs:
            try:
                network = ip_network(cidr, strict=False)
            except ValueError:
                continue
            key = (network.version, network.prefixlen)
            self.blocks[key] = self.blocks.get(key, 0) + 1

    def total(self) -> Nodes | Unknown:
        """The nodes; a cluster without any is no base to project from."""
        if not self.count:
            return Unknown(
                why=Why.NOT_SERVED,
                detail="The list of nodes is empty, so there is nothing to project from.",
                lift="Scan a cluster that has nodes.",
            )
        return Nodes(
            count=self.count,
            ready=self.ready,
            schedulable=self.schedulable,
            control_plane=self.control_plane,
            tainted_control_plane=self.tainted,
            cores=self.cores,
            schedulable_cores=self.schedulable_cores,
            memory_bytes=self.memory,
            largest_cores=self.largest,
            pod_slots=self.slots,
            blocks=tuple(
                Blocks(version=version, prefix_length=length, nodes=nodes)
                for (version, length), nodes in sorted(self.blocks.items())
            ),
            without_block=self.without_block,
            pools=tuple(
                Pool(
                    name=name,
                    nodes=int(pool[0]),
                    cores=pool[1],
                    memory_bytes=pool[2],
                    pod_slots=int(pool[3]),
                )
                for name, pool in sorted(self.pools.items())
            ),
            zones=_sorted(self.zones),
            kubelet_versions=_sorted(self.versions),
            provider_schemes=_sorted(self.schemes),
            marks=_sorted(self.marks),
            route_reflectors=self.reflectors,
            flannel_nodes=self.flannel,
            names_sample=tuple(sorted(self.names)),
        )


def _number(amounts: dict[str, object], key: str) -> float:
    value = amounts.get(key)
    try:
        return quantity(value if isinstance(value, (str, int, float)) else None)
    except ValueError:
        return 0.0


def _pool(labels: dict[str, str], repelled: bool) -> str:
    if any(label in labels for label in CONTROL_PLANE_LABELS):
        return "control-plane"
    for label in POOL_LABELS:
        if label in labels:
            return labels[label]
    return "tainted nodes" if repelled else "nodes"


def _bump(counts: dict[str, int], key: str) -> None:
    if key:
        counts[key] = counts.get(key, 0) + 1


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
