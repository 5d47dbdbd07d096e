"""Services, their endpoints, and what network plugins keep in the API."""

import msgspec

from kauditor.objects.meta import Meta, Struct


class ServicePort(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One port of a Service; ``node_port`` is 0 where there is none."""

    port: int = 0
    node_port: int = 0


class ServiceSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a Service. ``cluster_ip`` is "None" for a headless one."""

    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(name="clusterIP", default="")
    cluster_ips: list[str] | None = msgspec.field(name="clusterIPs", default=None)
    ports: list[ServicePort] | None = None
    health_check_node_port: int = 0


class Service(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One Service."""

    metadata: Meta = Meta()
    spec: ServiceSpec = ServiceSpec()


class EndpointConditions(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Of one endpoint; an unset ``ready`` means ready."""

    ready: bool | None = None


class Endpoint(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One endpoint, without its address."""

    conditions: EndpointConditions = EndpointConditions()
    node_name: str | None = None


class EndpointSlice(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Some of the endpoints of one Service."""

    metadata: Meta = Meta()
    address_type: str = ""
    endpoints: list[Endpoint] | None = None


class ServiceCidrSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of a ServiceCIDR: one range of each family at most."""

    cidrs: list[str] | None = None


class ServiceCidr(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One range of service addresses."""

    metadata: Meta = Meta()
    spec: ServiceCidrSpec = ServiceCidrSpec()


class BgpConfigurationSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of Calico's BGPConfiguration; an unset mesh is on."""

    node_to_node_mesh_enabled: bool | None = None


class BgpConfiguration(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """How Calico speaks BGP; the one named "default" holds for all nodes."""

    metadata: Meta = Meta()
    spec: BgpConfigurationSpec = BgpConfigurationSpec()


class IpPoolSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of Calico's IPPool. ``block_size`` is 0 where it is not set."""

    cidr: str = ""
    block_size: int = 0
    disabled: bool = False
    ipip_mode: str = ""
    vxlan_mode: str = ""
    node_selector: str = ""


class IpPool(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One pool of pod addresses."""

    metadata: Meta = Meta()
    spec: IpPoolSpec = IpPoolSpec()


class IpamBlockSpec(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """``spec`` of Calico's IPAMBlock."""

    cidr: str = ""
    unallocated: list[int] | None = None


class IpamBlock(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """One block of a pool, held by a node."""

    metadata: Meta = Meta()
    spec: IpamBlockSpec = IpamBlockSpec()
