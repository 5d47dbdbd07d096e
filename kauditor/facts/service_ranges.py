"""The ranges that service addresses are taken from."""

from ipaddress import ip_network

import msgspec

from kauditor.facts.control_plane import ControlPlane, flag_origin
from kauditor.facts.stated import Stated
from kauditor.facts.system_config import SystemConfig
from kauditor.model.fact import Fact, Origin, Seen, Unknown, Why, derives, tallies
from kauditor.model.source import Listing
from kauditor.objects.network import ServiceCidr

FLAG = "service-cluster-ip-range"


class ServiceCidrs(Fact, frozen=True, kw_only=True):
    """``ranges`` of all ServiceCIDR objects; there is one object a range, a handful in all."""

    ranges: tuple[str, ...]


class ServiceRange(msgspec.Struct, frozen=True, kw_only=True):
    """All ranges of one IP version, and how many addresses they hold together."""

    version: int
    cidrs: tuple[str, ...]
    usable: int


class ServiceRanges(Fact, frozen=True, kw_only=True):
    """By IP version."""

    families: tuple[ServiceRange, ...]


@tallies(
    ServiceCidrs,
    Listing("networking.k8s.io/v1", "servicecidrs", ServiceCidr, namespaced=False),
)
class ServiceCidrTally:
    """Notes ranges; one that is being deleted hands out no more addresses."""

    def __init__(self) -> None:
        self.ranges: list[str] = []

    def add(self, cidr: ServiceCidr) -> None:
        """Note one object."""
        if not cidr.metadata.deletion_timestamp:
            self.ranges.extend(cidr.spec.cidrs or ())

    def total(self) -> ServiceCidrs:
        """The ranges."""
        return ServiceCidrs(ranges=tuple(sorted(self.ranges)))


@derives
def service_ranges(
    cidrs: ServiceCidrs | Unknown,
    plane: ControlPlane | Unknown,
    config: SystemConfig | Unknown,
    stated: Stated,
) -> ServiceRanges | Unknown:
    """ServiceCIDR objects, else the API server's flag, else what kubeadm wrote, else stated."""
    if isinstance(cidrs, ServiceCidrs) and cidrs.ranges:
        return _families(",".join(cidrs.ranges), cidrs.origin)
    hidden: Unknown | None = plane if isinstance(plane, Unknown) else None
    if isinstance(plane, ControlPlane):
        servers = plane.component("kube-apiserver")
        if isinstance(servers, Unknown):
            hidden = servers
        else:
            for server in servers:
                if server.flags.get(FLAG):
                    return _families(server.flags[FLAG], flag_origin(server, FLAG))
    if isinstance(config, SystemConfig) and config.service_subnet:
        return _families(
            config.service_subnet,
            Origin("ConfigMap kube-system/kubeadm-config, serviceSubnet", Seen.DECLARED),
        )
    if stated.service_cidr:
        return _families(stated.service_cidr, Origin("[facts.network] service-cidr", Seen.STATED))
    return Unknown(
        why=hidden.why if hidden else Why.NOT_IN_API,
        detail="No ServiceCIDR, flag or ConfigMap names the range of service addresses.",
        lift="State it: [facts.network] service-cidr in kauditor.toml.",
        grant=hidden.grant if hidden else None,
    )


def _families(text: str, origin: Origin) -> ServiceRanges | Unknown:
    cidrs: dict[int, list[str]] = {}
    usable: dict[int, int] = {}
    for part in text.split(","):
        try:
            network = ip_network(part.strip(), strict=False)
        except ValueError:
            return Unknown(
                why=Why.NOT_IN_API,
                detail=f"The range of service addresses {part.strip()!r} is no address range.",
                lift="Correct it, or state it: [facts.network] service-cidr in kauditor.toml.",
            )
        if str(network) in cidrs.setdefault(network.version, []):
            continue
        cidrs[network.version].append(str(network))
        held = max(network.num_addresses - 2, 0)
        usable[network.version] = usable.get(network.version, 0) + held
    return ServiceRanges(
        families=tuple(
            ServiceRange(version=version, cidrs=tuple(cidrs[version]), usable=usable[version])
            for version in sorted(cidrs)
        ),
        origin=origin,
    )
