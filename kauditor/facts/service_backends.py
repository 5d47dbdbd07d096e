"""Ready endpoints of every Service, counted no further than who serves a webhook must know."""

from kauditor.facts.endpoint_slices import SERVICE_NAME
from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.network import EndpointSlice

ENOUGH = 2


class ServiceBackends(Fact, frozen=True, kw_only=True):
    """``ready``: "namespace/name" → ready endpoints, where 2 means two or more.

    ``one_node`` names Services whose ready endpoints, two or more, all stand on one node.
    """

    ready: dict[str, int]
    one_node: tuple[str, ...]


@tallies(ServiceBackends, Listing("discovery.k8s.io/v1", "endpointslices", EndpointSlice))
class ServiceBackendTally:
    """Counts by Service and address family: a Service of two families has each backend twice."""

    def __init__(self) -> None:
        self.ready: dict[str, dict[str, int]] = {}
        self.nodes: dict[str, str | None] = {}

    def add(self, piece: EndpointSlice) -> None:
        """Add one slice."""
        service = piece.metadata.label(SERVICE_NAME)
        if not service:
            return
        name = f"{piece.metadata.namespace}/{service}"
        families = self.ready.setdefault(name, {})
        count = families.get(piece.address_type, 0)
        for one in piece.endpoints or []:
            if one.conditions.ready is False:
                continue
            count += 1
            node = one.node_name or None
            # Null once there is more than one node, or one that is not said.
            if self.nodes.setdefault(name, node) != node:
                self.nodes[name] = None
        families[piece.address_type] = count

    def total(self) -> ServiceBackends:
        """The counts."""
        ready = {name: max(families.values()) for name, families in self.ready.items()}
        return ServiceBackends(
            ready={name: min(count, ENOUGH) for name, count in sorted(ready.items())},
            one_node=tuple(
                sorted(name for name, count in ready.items() if count >= 2 and self.nodes.get(name))
            ),
        )
