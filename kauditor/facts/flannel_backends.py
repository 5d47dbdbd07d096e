"""Which flannel backend each node says it uses."""

from kauditor.facts.nodes import NODE_LISTING
from kauditor.model.fact import Fact, tallies
from kauditor.objects.node import Node

BACKEND = "flannel.alpha.coreos.com/backend-type"


class FlannelBackends(Fact, frozen=True, kw_only=True):
    """Backend → nodes. Empty where no node is annotated by flannel."""

    backends: dict[str, int]


@tallies(FlannelBackends, NODE_LISTING)
class FlannelBackendTally:
    """Counts annotations."""

    def __init__(self) -> None:
        self.backends: dict[str, int] = {}

    def add(self, node: Node) -> None:
        """Count one node."""
        backend = node.metadata.annotation(BACKEND).lower()
        if backend:
            self.backends[backend] = self.backends.get(backend, 0) + 1

    def total(self) -> FlannelBackends:
        """The backends."""
        return FlannelBackends(backends=dict(sorted(self.backends.items())))
