"""Calico: its BGP mesh, its address pools and the blocks that nodes hold."""

from ipaddress import ip_network

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Count, Listing
from kauditor.objects.network import BgpConfiguration, IpamBlock, IpPool

GROUP_VERSION = "crd.projectcalico.org/v1"
# Block sizes where a pool does not set one [CALIPAM].
DEFAULT_BLOCK_SIZE = {4: 26, 6: 122}
MOST_POOLS = 100


class BgpConfigurations(Fact, frozen=True, kw_only=True):
    """``mesh`` is null where the default BGPConfiguration does not set it, which means on."""

    count: int
    mesh: bool | None = None


class BgpPeers(Fact, frozen=True, kw_only=True):
    """How many BGPPeers there are."""

    count: int


class AddressPool(msgspec.Struct, frozen=True, kw_only=True):
    """One enabled pool. ``blocks`` is how many blocks it can be cut into."""

    cidr: str
    version: int
    block_size: int
    blocks: int
    encapsulation: str
    all_nodes: bool


class IpPools(Fact, frozen=True, kw_only=True):
    """Enabled pools, the first hundred by name; ``count`` counts all pools."""

    count: int
    pools: tuple[AddressPool, ...]


class IpamBlocks(Fact, frozen=True, kw_only=True):
    """``blocks`` by IP version; ``allocated`` and ``size`` are IPv4 addresses in them."""

    blocks: dict[int, int]
    full: int
    allocated: int
    size: int


@tallies(
    BgpConfigurations,
    Listing(GROUP_VERSION, "bgpconfigurations", BgpConfiguration, namespaced=False),
)
class BgpConfigurationTally:
    """Reads the default one."""

    def __init__(self) -> None:
        self.count = 0
        self.mesh: bool | None = None

    def add(self, configuration: BgpConfiguration) -> None:
        """Read one."""
        self.count += 1
        if configuration.metadata.name == "default":
            self.mesh = configuration.spec.node_to_node_mesh_enabled

    def total(self) -> BgpConfigurations:
        """The configuration."""
        return BgpConfigurations(count=self.count, mesh=self.mesh)


@tallies(BgpPeers, Count(GROUP_VERSION, "bgppeers"))
class BgpPeerTally:
    """Takes the count."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, count: int) -> None:
        """Take it."""
        self.count = count

    def total(self) -> BgpPeers:
        """The count."""
        return BgpPeers(count=self.count)


@tallies(IpPools, Listing(GROUP_VERSION, "ippools", IpPool, namespaced=False))
class IpPoolTally:
    """Notes pools that hand out addresses."""

    def __init__(self) -> None:
        self.count = 0
        self.pools: list[tuple[str, AddressPool]] = []

    def add(self, pool: IpPool) -> None:
        """Note one."""
        self.count += 1
        spec = pool.spec
        try:
            network = ip_network(spec.cidr, strict=False)
        except ValueError:
            return
        if spec.disabled:
            return
        size = spec.block_size or DEFAULT_BLOCK_SIZE[network.version]
        spare = size - network.prefixlen
        modes = {spec.ipip_mode or "Never", spec.vxlan_mode or "Never"}
        self.pools.append(
            (
                pool.metadata.name,
                AddressPool(
                    cidr=str(network),
                    version=network.version,
                    block_size=size,
                    blocks=1 << spare if spare >= 0 else 0,
                    encapsulation="none"
                    if modes == {"Never"}
                    else "ipip"
                    if (spec.ipip_mode or "Never") != "Never"
                    else "vxlan",
                    all_nodes=spec.node_selector in ("", "all()"),
                ),
            )
        )

    def total(self) -> IpPools:
        """The pools."""
        self.pools.sort(key=lambda pair: pair[0])
        return IpPools(count=self.count, pools=tuple(pool for _, pool in self.pools[:MOST_POOLS]))


@tallies(IpamBlocks, Listing(GROUP_VERSION, "ipamblocks", IpamBlock, namespaced=False))
class IpamBlockTally:
    """Adds up blocks."""

    def __init__(self) -> None:
        self.blocks: dict[int, int] = {}
        self.full = self.allocated = self.size = 0

    def add(self, block: IpamBlock) -> None:
        """Add one."""
        try:
            network = ip_network(block.spec.cidr, strict=False)
        except ValueError:
            return
        self.blocks[network.version] = self.blocks.get(network.version, 0) + 1
        if network.version != 4:
            return
        free = len(block.spec.unallocated or ())
        self.full += not free
        self.allocated += max(network.num_addresses - free, 0)
        self.size += network.num_addresses

    def total(self) -> IpamBlocks:
        """The sums."""
        return IpamBlocks(
            blocks=dict(sorted(self.blocks.items())),
            full=self.full,
            allocated=self.allocated,
            size=self.size,
        )
