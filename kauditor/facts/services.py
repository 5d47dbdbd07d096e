"""Services: how many hold an address, by family, and which node ports are taken."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.network import Service

SERVICE_LISTING = Listing("v1", "services", Service)


class Services(Fact, frozen=True, kw_only=True):
    """``addresses``: IP version → Services that hold a cluster address of it.

    Headless Services and external names hold none. ``node_ports`` counts distinct port numbers.
    """

    count: int
    with_address: int
    headless: int
    types: dict[str, int]
    addresses: dict[int, int]
    node_ports: int


@tallies(Services, SERVICE_LISTING)
class ServiceTally:
    """Counts Services."""

    def __init__(self) -> None:
        self.count = self.with_address = self.headless = 0
        self.types: dict[str, int] = {}
        self.addresses: dict[int, int] = {}
        self.ports: set[int] = set()

    def add(self, service: Service) -> None:
        """Count one."""
        spec = service.spec
        self.count += 1
        kind = spec.type or "ClusterIP"
        self.types[kind] = self.types.get(kind, 0) + 1
        given = spec.cluster_ips or ([spec.cluster_ip] if spec.cluster_ip else [])
        self.headless += "None" in given
        held = [address for address in given if address and address != "None"]
        self.with_address += bool(held)
        for version in {6 if ":" in address else 4 for address in held}:
            self.addresses[version] = self.addresses.get(version, 0) + 1
        self.ports.update(port.node_port for port in spec.ports or () if port.node_port)
        if spec.health_check_node_port:
            self.ports.add(spec.health_check_node_port)

    def total(self) -> Services:
        """The Services."""
        return Services(
            count=self.count,
            with_address=self.with_address,
            headless=self.headless,
            types=dict(sorted(self.types.items())),
            addresses=dict(sorted(self.addresses.items())),
            node_ports=len(self.ports),
        )
