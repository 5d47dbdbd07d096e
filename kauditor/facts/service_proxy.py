"""Which program makes Services work on the nodes, and by which means."""

from kauditor.facts.cni import Cni
from kauditor.facts.daemon_sets import PROXY_MODE, DaemonSets
from kauditor.facts.provider import Provider
from kauditor.facts.system_config import SystemConfig
from kauditor.model.fact import Fact, Origin, Seen, Unknown, Why, derives

REPLACED = frozenset({"true", "strict"})
WITHOUT_KUBE_PROXY = {
    "cilium-gke": "GKE Dataplane V2",
    "ovn-kubernetes": "OVN-Kubernetes",
}


class ServiceProxy(Fact, frozen=True, kw_only=True):
    """``mode``: iptables, ipvs or nftables for kube-proxy, "ebpf" or "ovn" for others.

    ``platform_default`` says that nobody set the mode; on Linux that means iptables.
    """

    program: str
    mode: str
    platform_default: bool = False


@derives
def service_proxy(
    daemon_sets: DaemonSets,
    config: SystemConfig | Unknown,
    cni: Cni | Unknown,
    provider: Provider | Unknown,
) -> ServiceProxy | Unknown:
    """A kube-proxy counts where its DaemonSet runs; its ConfigMap may outlive it (trap 5.4)."""
    replaces = (
        isinstance(cni, Cni)
        and cni.name == "cilium"
        and isinstance(config, SystemConfig)
        and config.cilium_kube_proxy_replacement.lower() in REPLACED
    )
    if replaces and isinstance(config, SystemConfig):
        origin = Origin(f"{config.origin.read_from}, cilium-config", Seen.DECLARED)
        return ServiceProxy(program="Cilium", mode="ebpf", origin=origin)
    running = daemon_sets.named("kube-proxy")
    if running is not None and running.desired:
        mode = running.settings.get(PROXY_MODE, "")
        if isinstance(config, Unknown) and not mode:
            return config
        if isinstance(config, SystemConfig):
            mode = config.kube_proxy_mode or mode
        return ServiceProxy(
            program="kube-proxy",
            mode=mode.lower() or "iptables",
            platform_default=not mode,
            origin=Origin(running.subject, Seen.DECLARED if mode else Seen.INFERRED),
        )
    if isinstance(cni, Cni) and cni.name in WITHOUT_KUBE_PROXY:
        return ServiceProxy(
            program=WITHOUT_KUBE_PROXY[cni.name],
            mode="ovn" if cni.name == "ovn-kubernetes" else "ebpf",
            origin=Origin(cni.subject, Seen.DECLARED),
        )
    if isinstance(config, Unknown):
        return config
    name = provider.name if isinstance(provider, Provider) else ""
    return Unknown(
        why=Why.NOT_IN_API,
        detail=f"{name} runs kube-proxy inside its own process or as a static pod."
        if name in ("k3s", "rke2", "k0s", "gke")
        else "No kube-proxy DaemonSet runs, and no plugin that replaces it was recognised.",
        lift="Look at the proxy's own settings on a node.",
    )
