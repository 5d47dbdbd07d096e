"""Leases of the control plane: how many API servers there are, and how often leaders change."""

from datetime import datetime

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.admission import Lease

IDENTITY = "apiserver.kubernetes.io/identity"
LEADERS = frozenset({"kube-scheduler", "kube-controller-manager"})
# An API server renews its lease every ten seconds; a dead one's stays for an hour.
STALE_SECONDS = 300.0
DAY = 86_400.0


class LeaderLease(msgspec.Struct, frozen=True, kw_only=True):
    """The lease of one leader election; ``days`` from its creation to its last renewal."""

    name: str
    transitions: int
    days: float


class ControlPlaneLeases(Fact, frozen=True, kw_only=True):
    """``api_servers`` counts identities that were renewed within five minutes of the newest.

    The clock is the leases' own: a recorded cluster is read like a live one.
    """

    api_servers: int
    leaders: tuple[LeaderLease, ...]


@tallies(
    ControlPlaneLeases, Listing("coordination.k8s.io/v1", "leases", Lease, namespace="kube-system")
)
class ControlPlaneLeaseTally:
    """Picks out the leases that it knows."""

    def __init__(self) -> None:
        self.renewed: list[float] = []
        self.leaders: list[LeaderLease] = []

    def add(self, lease: Lease) -> None:
        """Note one lease."""
        renewed = _seconds(lease.spec.renew_time)
        if lease.metadata.label(IDENTITY) == "kube-apiserver":
            self.renewed.append(renewed)
        elif lease.metadata.name in LEADERS:
            created = _seconds(lease.metadata.creation_timestamp)
            self.leaders.append(
                LeaderLease(
                    name=lease.metadata.name,
                    transitions=lease.spec.lease_transitions or 0,
                    days=max(renewed - created, 0.0) / DAY if created and renewed else 0.0,
                )
            )

    def total(self) -> ControlPlaneLeases:
        """The leases."""
        newest = max(self.renewed, default=0.0)
        return ControlPlaneLeases(
            api_servers=sum(newest - renewed <= STALE_SECONDS for renewed in self.renewed),
            leaders=tuple(sorted(self.leaders, key=lambda one: one.name)),
        )


def _seconds(text: str | None) -> float:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return 0.0
