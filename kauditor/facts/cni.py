"""Which network plugin the cluster runs, and whether it uses the nodes' pod blocks."""

from kauditor.facts.daemon_sets import CALICO_DATASTORE, CALICO_TYPHA, DaemonSets
from kauditor.facts.system_config import SystemConfig
from kauditor.model.fact import Fact, Origin, Seen, Unknown, Why, derives

# DaemonSet name → plugin; catalog section 2.4.
PLUGINS = {
    "canal": "canal",
    "calico-node": "calico",
    "cilium": "cilium",
    "anetd": "cilium-gke",
    "aws-node": "aws-vpc-cni",
    "azure-cns": "azure-cni",
    "azure-cni": "azure-cni",
    "kube-flannel-ds": "flannel",
    "kube-flannel": "flannel",
    "ovnkube-node": "ovn-kubernetes",
    "sdn": "openshift-sdn",
    "antrea-agent": "antrea",
    "weave-net": "weave",
    "kube-router": "kube-router",
    "kindnet": "kindnet",
}
USES_NODE_BLOCKS = frozenset({"flannel", "canal", "kindnet", "kube-router", "antrea", "cilium-gke"})
HAS_OWN_ADDRESSES = frozenset(
    {"aws-vpc-cni", "azure-cni", "weave", "ovn-kubernetes", "openshift-sdn"}
)


class Cni(Fact, frozen=True, kw_only=True):
    """``name`` is "" where no plugin was recognised among the DaemonSets.

    ``uses_node_blocks`` is null where that can't be told. ``datastore`` and ``typha_service``
    are set for Calico only.
    """

    name: str
    subject: str = ""
    uses_node_blocks: bool | None = None
    datastore: str = ""
    typha_service: str = ""


@derives
def cni(daemon_sets: DaemonSets, config: SystemConfig | Unknown) -> Cni | Unknown:
    """By the name of the DaemonSet; its addressing by the plugin's own settings."""
    for name, plugin in PLUGINS.items():
        daemon_set = daemon_sets.named(name)
        if daemon_set is None:
            continue
        origin = Origin(daemon_set.subject, Seen.DECLARED)
        settings = daemon_set.settings
        return Cni(
            name=plugin,
            subject=daemon_set.subject,
            uses_node_blocks=_uses_node_blocks(plugin, config),
            datastore=settings.get(CALICO_DATASTORE, "") if plugin in ("calico", "canal") else "",
            typha_service=settings.get(CALICO_TYPHA, ""),
            origin=origin,
        )
    if daemon_sets.count > len(daemon_sets.sets):
        return Unknown(
            why=Why.NOT_IN_API,
            detail="No network plugin was recognised among the largest 500 DaemonSets.",
        )
    return Cni(name="", origin=daemon_sets.origin)


def _uses_node_blocks(plugin: str, config: SystemConfig | Unknown) -> bool | None:
    if plugin in USES_NODE_BLOCKS:
        return True
    if plugin in HAS_OWN_ADDRESSES:
        return False
    if plugin == "cilium":
        if isinstance(config, Unknown) or not config.cilium_ipam:
            return None
        return config.cilium_ipam == "kubernetes"
    if plugin == "calico":
        # calico-ipam is what its manifests and its operator set; host-local is the exception, and
        # stands in a CNI configuration on the host.
        return False
    return None
