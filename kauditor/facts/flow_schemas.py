"""FlowSchemas: which requests the API server's queues leave out."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.admission import FlowSchema

MOST = 50


class FlowSchemas(Fact, frozen=True, kw_only=True):
    """``exempt`` names at most 50 schemas of the level "exempt", the server's own included."""

    count: int
    exempt: tuple[str, ...]


@tallies(
    FlowSchemas,
    Listing("flowcontrol.apiserver.k8s.io/v1", "flowschemas", FlowSchema, namespaced=False),
)
class FlowSchemaTally:
    """Counts FlowSchemas."""

    def __init__(self) -> None:
        self.count = 0
        self.exempt: list[str] = []

    def add(self, schema: FlowSchema) -> None:
        """Count one."""
        self.count += 1
        if schema.spec.priority_level_configuration.name == "exempt":
            self.exempt.append(schema.metadata.name)

    def total(self) -> FlowSchemas:
        """The schemas."""
        return FlowSchemas(count=self.count, exempt=tuple(sorted(self.exempt)[:MOST]))
