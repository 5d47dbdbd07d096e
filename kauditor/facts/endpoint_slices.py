"""EndpointSlices: how many backends Services have, and which Service has the most."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.network import EndpointSlice

SERVICE_NAME = "kubernetes.io/service-name"
HEADLESS = "service.kubernetes.io/headless"
MOST = 5


class LargeService(msgspec.Struct, frozen=True, kw_only=True):
    """One Service with its endpoints, ready or not, and the slices that hold them."""

    namespace: str
    name: str
    endpoints: int
    slices: int

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"Service {self.namespace}/{self.name}"


class EndpointSlices(Fact, frozen=True, kw_only=True):
    """``backends``: ready endpoints that node proxies know, headless Services left out.

    A Service of two IP families has every backend twice, so the larger family counts.
    ``largest`` are the five Services with the most endpoints, headless ones included.
    """

    count: int
    backends: int
    services: int
    largest: tuple[LargeService, ...]


@tallies(EndpointSlices, Listing("discovery.k8s.io/v1", "endpointslices", EndpointSlice))
class EndpointSliceTally:
    """Adds up slices by Service."""

    def __init__(self) -> None:
        self.count = 0
        self.backends: dict[str, int] = {}
        self.services: dict[tuple[str, str], dict[str, list[int]]] = {}

    def add(self, piece: EndpointSlice) -> None:
        """Add one slice."""
        self.count += 1
        labels = piece.metadata.labels or {}
        name, family = labels.get(SERVICE_NAME, ""), piece.address_type
        endpoints = piece.endpoints or []
        if not name:
            return
        if HEADLESS not in labels:
            ready = sum(one.conditions.ready is not False for one in endpoints)
            self.backends[family] = self.backends.get(family, 0) + ready
        families = self.services.setdefault((piece.metadata.namespace, name), {})
        held = families.setdefault(family, [0, 0])
        held[0] += len(endpoints)
        held[1] += 1

    def total(self) -> EndpointSlices:
        """The sums."""
        services = [
            LargeService(namespace=namespace, name=name, endpoints=most[0], slices=most[1])
            for (namespace, name), families in self.services.items()
            for most in [max(families.values())]
        ]
        services.sort(key=lambda one: (-one.endpoints, one.namespace, one.name))
        return EndpointSlices(
            count=self.count,
            backends=max(self.backends.values(), default=0),
            services=len(services),
            largest=tuple(services[:MOST]),
        )
