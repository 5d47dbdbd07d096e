"""PersistentVolumes and PersistentVolumeClaims, counted by phase."""

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.storage import Volume


class Volumes(Fact, frozen=True, kw_only=True):
    """PersistentVolumes by phase."""

    count: int
    phases: dict[str, int]


class Claims(Fact, frozen=True, kw_only=True):
    """PersistentVolumeClaims by phase."""

    count: int
    phases: dict[str, int]


class _PhaseTally:
    def __init__(self) -> None:
        self.phases: dict[str, int] = {}

    def add(self, volume: Volume) -> None:
        """Count one."""
        phase = volume.status.phase or "Unset"
        self.phases[phase] = self.phases.get(phase, 0) + 1


@tallies(Volumes, Listing("v1", "persistentvolumes", Volume, namespaced=False))
class VolumeTally(_PhaseTally):
    """Counts PersistentVolumes."""

    def total(self) -> Volumes:
        """The volumes."""
        return Volumes(count=sum(self.phases.values()), phases=dict(sorted(self.phases.items())))


@tallies(Claims, Listing("v1", "persistentvolumeclaims", Volume))
class ClaimTally(_PhaseTally):
    """Counts PersistentVolumeClaims."""

    def total(self) -> Claims:
        """The claims."""
        return Claims(count=sum(self.phases.values()), phases=dict(sorted(self.phases.items())))
