"""DaemonSets: what runs on every node, and as whom."""

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.workload import Workload

DAEMON_SET_LISTING = Listing("apps/v1", "daemonsets", Workload)
MOST = 500

# The one setting of calico-node that decides whether Typha is needed.
CALICO_DATASTORE = "DATASTORE_TYPE"
CALICO_TYPHA = "FELIX_TYPHAK8SSERVICENAME"


class DaemonSet(msgspec.Struct, frozen=True, kw_only=True):
    """One DaemonSet. ``account`` is its service account; ``settings`` the few that checks need."""

    namespace: str
    name: str
    account: str
    desired: int
    ready: int
    images: tuple[str, ...]
    priority_class: str = ""
    settings: dict[str, str] = {}

    @property
    def subject(self) -> str:
        """As findings name it."""
        return f"DaemonSet {self.namespace}/{self.name}"


class DaemonSets(Fact, frozen=True, kw_only=True):
    """All DaemonSets, largest first, at most 500 of them; ``count`` counts all."""

    count: int
    sets: tuple[DaemonSet, ...]

    def named(self, *names: str) -> DaemonSet | None:
        """The first DaemonSet that has one of these names."""
        return next((one for one in self.sets if one.name in names), None)


@tallies(DaemonSets, DAEMON_SET_LISTING)
class DaemonSetTally:
    """Notes DaemonSets."""

    def __init__(self) -> None:
        self.sets: list[DaemonSet] = []

    def add(self, workload: Workload) -> None:
        """Note one."""
        spec = workload.spec.template.spec
        containers = spec.containers or []
        settings = {
            variable.name: variable.value
            for container in containers
            for variable in container.env or []
            if variable.name in (CALICO_DATASTORE, CALICO_TYPHA)
        }
        self.sets.append(
            DaemonSet(
                namespace=workload.metadata.namespace,
                name=workload.metadata.name,
                account=spec.service_account_name or "default",
                desired=workload.status.desired_number_scheduled,
                ready=workload.status.number_ready,
                images=tuple(container.image for container in containers),
                priority_class=spec.priority_class_name,
                settings=settings,
            )
        )

    def total(self) -> DaemonSets:
        """The DaemonSets."""
        ordered = sorted(self.sets, key=lambda one: (-one.desired, one.namespace, one.name))
        return DaemonSets(count=len(ordered), sets=tuple(ordered[:MOST]))
