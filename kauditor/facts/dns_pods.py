"""Where the replicas of cluster DNS stand."""

from kauditor.facts.static_pods import KUBE_SYSTEM_PODS
from kauditor.model.fact import Fact, tallies
from kauditor.objects.pod import Pod

DNS_LABEL = "k8s-app"
DNS_VALUE = "kube-dns"


class DnsPods(Fact, frozen=True, kw_only=True):
    """``placed`` replicas have a node, on ``nodes`` different ones; ``fullest`` has the most."""

    placed: int
    waiting: int
    nodes: int
    fullest: str
    most_on_one: int


@tallies(DnsPods, KUBE_SYSTEM_PODS)
class DnsPodTally:
    """Counts DNS pods by node."""

    def __init__(self) -> None:
        self.waiting = 0
        self.on_nodes: dict[str, int] = {}

    def add(self, pod: Pod) -> None:
        """Count one pod where it serves DNS."""
        if pod.metadata.label(DNS_LABEL) != DNS_VALUE or pod.finished:
            return
        node = pod.spec.node_name
        if node:
            self.on_nodes[node] = self.on_nodes.get(node, 0) + 1
        else:
            self.waiting += 1

    def total(self) -> DnsPods:
        """The replicas."""
        fullest = min(self.on_nodes, key=lambda name: (-self.on_nodes[name], name), default="")
        return DnsPods(
            placed=sum(self.on_nodes.values()),
            waiting=self.waiting,
            nodes=len(self.on_nodes),
            fullest=fullest,
            most_on_one=self.on_nodes.get(fullest, 0),
        )
