"""Inter-pod affinity: which workloads make the scheduler compare every pod with every node."""

import msgspec

from kauditor.facts.pods import POD_LISTING
from kauditor.model.fact import Fact, tallies
from kauditor.objects.pod import Pod

WORST = 20


class AffinityOwner(msgspec.Struct, frozen=True, kw_only=True):
    """A workload whose unfinished pods carry inter-pod terms."""

    namespace: str
    owner: str
    pods: int
    required: bool
    topology_keys: tuple[str, ...]


class AffinityTerms(Fact, frozen=True, kw_only=True):
    """Unfinished pods with inter-pod (anti-)affinity, and the workloads that have the most.

    ``pods`` counts all unfinished pods; ``with_terms`` those that carry a term; ``exempt`` those
    of them that belong to DNS, to kube-system, or to a workload of at most ten pods.
    """

    pods: int
    with_terms: int
    exempt: int
    worst: tuple[AffinityOwner, ...]


@tallies(AffinityTerms, POD_LISTING)
class AffinityTally:
    """Counts pods with inter-pod terms by their owner."""

    def __init__(self) -> None:
        self.pods = 0
        self.owners: dict[tuple[str, str], tuple[bool, tuple[str, ...]]] = {}
        self.counts: dict[tuple[str, str], int] = {}

    def add(self, pod: Pod) -> None:
        """Count one pod."""
        if pod.finished:
            return
        self.pods += 1
        affinity = pod.spec.affinity
        if affinity is None:
            return
        keys: set[str] = set()
        required = False
        for part in (affinity.pod_affinity, affinity.pod_anti_affinity):
            if part is None:
                continue
            required = required or bool(part.required)
            keys.update(term.topology_key for term in part.required or ())
            keys.update(term.pod_affinity_term.topology_key for term in part.preferred or ())
        if not keys:
            return
        owner = (pod.metadata.namespace, owner_of(pod))
        self.counts[owner] = self.counts.get(owner, 0) + 1
        self.owners.setdefault(owner, (required, tuple(sorted(keys))))

    def total(self) -> AffinityTerms:
        """The terms."""
        exempt = sum(
            count
            for (namespace, _), count in self.counts.items()
            if namespace == "kube-system" or count <= 10
        )
        worst = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:WORST]
        return AffinityTerms(
            pods=self.pods,
            with_terms=sum(self.counts.values()),
            exempt=exempt,
            worst=tuple(
                AffinityOwner(
                    namespace=namespace,
                    owner=owner,
                    pods=count,
                    required=self.owners[namespace, owner][0],
                    topology_keys=self.owners[namespace, owner][1],
                )
                for (namespace, owner), count in worst
            ),
        )


def owner_of(pod: Pod) -> str:
    """The workload a pod belongs to: "Deployment/web" for a ReplicaSet web-7d9c5, else itself."""
    for reference in pod.metadata.owner_references or ():
        if reference.controller:
            if reference.kind == "ReplicaSet":
                stem, _, suffix = reference.name.rpartition("-")
                if stem and pod.metadata.label("pod-template-hash") == suffix:
                    return f"Deployment/{stem}"
            return f"{reference.kind}/{reference.name}"
    return f"Pod/{pod.metadata.name}"
