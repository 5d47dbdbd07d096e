"""Aggregated APIs: which are served by other servers, and which of them don't answer."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.admission import ApiService

MOST = 50


class UnavailableApi(msgspec.Struct, frozen=True, kw_only=True):
    """One APIService that is not available, and the condition's reason."""

    name: str
    service: str
    reason: str

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"APIService {self.name}"


class ApiServices(Fact, frozen=True, kw_only=True):
    """``aggregated`` are served by a Service; ``unavailable`` names at most 50 of ``down``."""

    count: int
    aggregated: int
    down: int
    unavailable: tuple[UnavailableApi, ...]


@tallies(
    ApiServices,
    Listing("apiregistration.k8s.io/v1", "apiservices", ApiService, namespaced=False),
)
class ApiServiceTally:
    """Counts APIServices."""

    def __init__(self) -> None:
        self.count = self.aggregated = 0
        self.down: list[UnavailableApi] = []

    def add(self, api: ApiService) -> None:
        """Count one."""
        self.count += 1
        service = api.spec.service
        self.aggregated += service is not None
        for condition in api.status.conditions or []:
            if condition.type == "Available" and condition.status != "True":
                self.down.append(
                    UnavailableApi(
                        name=api.metadata.name,
                        service=f"{service.namespace}/{service.name}" if service else "",
                        reason=condition.reason,
                    )
                )

    def total(self) -> ApiServices:
        """The counts."""
        down = sorted(self.down, key=lambda one: one.name)
        return ApiServices(
            count=self.count,
            aggregated=self.aggregated,
            down=len(down),
            unavailable=tuple(down[:MOST]),
        )
