"""The range that nodes' pod blocks are cut from."""

from ipaddress import IPv4Network, IPv6Network, ip_network

import msgspec

from kauditor.facts.control_plane import ControlPlane, flag_origin
from kauditor.facts.nodes import Nodes
from kauditor.facts.stated import Stated
from kauditor.facts.static_pods import StaticPod
from kauditor.facts.system_config import SystemConfig
from kauditor.model.fact import Fact, Origin, Seen, Unknown, Why, derives

# kube-controller-manager's defaults of --node-cidr-mask-size-ipv4 and -ipv6 [KCM].
DEFAULT_MASK = {4: 24, 6: 64}
CONTROLLER_MANAGER = "kube-controller-manager"


class BlockRange(msgspec.Struct, frozen=True, kw_only=True):
    """One range and the size of the block that each node gets from it."""

    cidr: str
    node_mask: int
    version: int
    mask_set: bool

    @property
    def blocks(self) -> int:
        """How many nodes the range can serve: 2^(node mask − cluster mask), 0 if it holds none."""
        spare = self.node_mask - int(self.cidr.rpartition("/")[2])
        return 1 << spare if spare >= 0 else 0

    def __str__(self) -> str:
        return self.cidr


class ClusterCidr(Fact, frozen=True, kw_only=True):
    """``allocator``: kube-controller-manager, or "" where none hands out blocks."""

    allocator: str
    ranges: tuple[BlockRange, ...]


@derives
def cluster_cidr(
    stated: Stated,
    plane: ControlPlane | Unknown,
    config: SystemConfig | Unknown,
    nodes: Nodes | Unknown,
) -> ClusterCidr | Unknown:
    """Stated, else the controller-manager's flags, else what kubeadm wrote down."""
    masks = _node_masks(nodes)
    if stated.cluster_cidr:
        size = stated.node_cidr_mask_size
        given = {4: size, 6: size} if size else masks
        return _ranges(
            stated.cluster_cidr,
            given,
            Origin("[facts.network] cluster-cidr", Seen.STATED),
            bool(size),
        )
    hidden: Unknown | None = plane if isinstance(plane, Unknown) else None
    if isinstance(plane, ControlPlane):
        managers = plane.component(CONTROLLER_MANAGER)
        if isinstance(managers, Unknown):
            hidden = managers
        else:
            manager = managers[0]
            if manager.flags.get("allocate-node-cidrs") != "true":
                return ClusterCidr(
                    allocator="", ranges=(), origin=flag_origin(manager, "allocate-node-cidrs")
                )
            if manager.flags.get("cluster-cidr"):
                return _ranges(
                    manager.flags["cluster-cidr"],
                    _flag_masks(manager) or {},
                    flag_origin(manager, "cluster-cidr"),
                    bool(_flag_masks(manager)),
                )
    if isinstance(config, SystemConfig) and config.pod_subnet:
        return _ranges(
            config.pod_subnet,
            masks,
            Origin("ConfigMap kube-system/kubeadm-config, podSubnet", Seen.DECLARED),
            bool(masks),
        )
    return hidden or Unknown(
        why=Why.NOT_IN_API,
        detail="No flag and no ConfigMap names the range that nodes' pod blocks are cut from.",
        lift="State it: [facts.network] cluster-cidr in kauditor.toml.",
    )


def _node_masks(nodes: Nodes | Unknown) -> dict[int, int]:
    if isinstance(nodes, Unknown):
        return {}
    return {blocks.version: blocks.prefix_length for blocks in nodes.blocks}


def _flag_masks(manager: StaticPod) -> dict[int, int]:
    masks = {}
    for version, flags in (
        (4, ("node-cidr-mask-size-ipv4", "node-cidr-mask-size")),
        (6, ("node-cidr-mask-size-ipv6", "node-cidr-mask-size")),
    ):
        for flag in flags:
            if manager.flags.get(flag, "").isdigit():
                masks[version] = int(manager.flags[flag])
                break
    return masks


def _ranges(
    text: str, masks: dict[int, int], origin: Origin, mask_set: bool
) -> ClusterCidr | Unknown:
    ranges = []
    for part in text.split(","):
        try:
            network: IPv4Network | IPv6Network = ip_network(part.strip(), strict=False)
        except ValueError:
            return Unknown(
                why=Why.NOT_IN_API,
                detail=f"The cluster's pod range {part.strip()!r} is no address range.",
                lift="Correct it, or state it: [facts.network] cluster-cidr in kauditor.toml.",
            )
        mask = masks.get(network.version) or DEFAULT_MASK[network.version]
        ranges.append(
            BlockRange(
                cidr=str(network), node_mask=mask, version=network.version, mask_set=mask_set
            )
        )
    return ClusterCidr(allocator=CONTROLLER_MANAGER, ranges=tuple(ranges), origin=origin)
