"""Nodes and what storage drivers say of them."""

from typing import Any

import msgspec

from kauditor.objects.meta import AnnotatedMeta, Meta, Struct


class Taint(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One taint."""

    key: str = ""
    effect: str = ""


class NodeSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a node."""

    pod_cidr: str = msgspec.field(name="podCIDR", default="")
    pod_cidrs: list[str] | None = msgspec.field(name="podCIDRs", default=None)
    provider_id: str = msgspec.field(name="providerID", default="")
    taints: list[Taint] | None = None
    unschedulable: bool = False


class NodeCondition(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    last_transition_time: str | None = None


class NodeInfo(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Versions the kubelet reports."""

    kubelet_version: str = ""
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    operating_system: str = ""
    architecture: str = ""


class NodeStatus(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``status`` of a node. Quantities stay as written."""

    capacity: dict[str, Any] | None = None
    allocatable: dict[str, Any] | None = None
    conditions: list[NodeCondition] | None = None
    node_info: NodeInfo = NodeInfo()


class Node(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One node."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class VolumeCount(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """How many volumes a driver can attach to a node; null is unbounded."""

    count: int | None = None


class CsiNodeDriver(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One driver on one node."""

    name: str = ""
    allocatable: VolumeCount | None = None


class CsiNodeSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a CSINode."""

    drivers: list[CsiNodeDriver] | None = None


class CsiNode(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """What storage drivers registered on a node."""

    metadata: Meta = Meta()
    spec: CsiNodeSpec = CsiNodeSpec()
