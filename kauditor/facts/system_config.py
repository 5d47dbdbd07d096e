"""Settings of cluster components that stand in ConfigMaps of kube-system."""

import re
from typing import Any

import msgspec

from kauditor.model.fact import Fact, tallies
from kauditor.model.source import Listing
from kauditor.objects.workload import ConfigMap

SYSTEM_CONFIG_LISTING = Listing("v1", "configmaps", ConfigMap, namespace="kube-system")


class DnsScaling(msgspec.Struct, frozen=True, kw_only=True):
    """Policy of the cluster-proportional-autoscaler; 0 where a number is not set.

    A linear one has the numbers; a ladder has ``steps`` of (nodes, replicas).
    """

    name: str
    cores_per_replica: float = 0
    nodes_per_replica: float = 0
    minimum: int = 1
    maximum: int = 0
    ladder: bool = False
    steps: tuple[tuple[int, int], ...] = ()


class SystemConfig(Fact, frozen=True, kw_only=True):
    """What is set; "" or null where the ConfigMap or the key is not there.

    ``calico_typha`` is the name of the Typha service, "none" where it is switched off.
    ``kube_proxy_mode`` is as written: "" means the platform's default. ``null`` for a ConfigMap
    that does not exist.
    """

    pod_subnet: str = ""
    service_subnet: str = ""
    kube_proxy_mode: str | None = None
    calico_typha: str | None = None
    cilium_ipam: str | None = None
    cilium_pod_cidrs: str = ""
    cilium_mask_size: str = ""
    cilium_kube_proxy_replacement: str = ""
    cilium_endpoint_slice: str | None = None
    cilium_lb_map_max: str = ""
    dns_autopath: bool = False
    flannel_backend: str | None = None
    flannel_network: str = ""
    dns_scaling: tuple[DnsScaling, ...] = ()
    names: tuple[str, ...] = ()


@tallies(SystemConfig, SYSTEM_CONFIG_LISTING)
class SystemConfigTally:
    """Reads the ConfigMaps that it knows and drops the rest."""

    def __init__(self) -> None:
        self.set: dict[str, Any] = {}
        self.scaling: list[DnsScaling] = []
        self.names: list[str] = []

    def add(self, config: ConfigMap) -> None:
        """Read one ConfigMap."""
        name, data = config.metadata.name, config.data or {}
        if name == "kubeadm-config":
            text = data.get("ClusterConfiguration", "")
            self.set["pod_subnet"] = _yaml_value(text, "podSubnet")
            self.set["service_subnet"] = _yaml_value(text, "serviceSubnet")
        elif name in ("kube-proxy", "kube-proxy-config"):
            text = data.get("config.conf") or data.get("config") or ""
            self.set["kube_proxy_mode"] = _yaml_value(text, "mode")
        elif name == "calico-config":
            self.set["calico_typha"] = data.get("typha_service_name", "")
        elif name == "cilium-config":
            self.set["cilium_ipam"] = data.get("ipam", "")
            self.set["cilium_pod_cidrs"] = data.get("cluster-pool-ipv4-cidr", "")
            self.set["cilium_mask_size"] = data.get("cluster-pool-ipv4-mask-size", "")
            self.set["cilium_kube_proxy_replacement"] = data.get("kube-proxy-replacement", "")
            self.set["cilium_endpoint_slice"] = data.get("enable-cilium-endpoint-slice", "")
            self.set["cilium_lb_map_max"] = data.get("bpf-lb-map-max", "")
        elif name == "coredns" and "Corefile" in data:
            self.set["dns_autopath"] = bool(
                re.search(r"^\s*autopath\b", data["Corefile"], re.MULTILINE)
            )
        elif name in ("kube-flannel-cfg", "canal-config"):
            backend, network = _flannel(data.get("net-conf.json", ""))
            self.set["flannel_backend"] = backend
            self.set["flannel_network"] = network
        elif "linear" in data or "ladder" in data:
            self.scaling.append(_scaling(name, data))
        else:
            return
        self.names.append(name)

    def total(self) -> SystemConfig:
        """The settings."""
        return SystemConfig(
            **self.set,
            dns_scaling=tuple(sorted(self.scaling, key=lambda one: one.name)),
            names=tuple(sorted(self.names)),
        )


def _yaml_value(text: str, key: str) -> str:
    # These documents are written by machines, a key a line; a YAML parser would cost a fifth of a
    # second of start-up for two keys.
    match = re.search(rf"^\s*{key}:[ \t]*([^\s#]*)", text, re.MULTILINE)
    return match.group(1).strip("\"'") if match else ""


class _FlannelBackend(msgspec.Struct, frozen=True):
    Type: str = ""


class _Flannel(msgspec.Struct, frozen=True):
    Network: str = ""
    Backend: _FlannelBackend = _FlannelBackend()


def _flannel(text: str) -> tuple[str, str]:
    try:
        config = msgspec.json.decode(text, type=_Flannel)
    except msgspec.DecodeError:
        return "", ""
    return config.Backend.Type, config.Network


class _Linear(msgspec.Struct, rename="camel"):
    cores_per_replica: float = 0
    nodes_per_replica: float = 0
    min: int = 1
    max: int = 0


def _scaling(name: str, data: dict[str, str]) -> DnsScaling:
    try:
        linear = msgspec.json.decode(data["linear"], type=_Linear)
    except (KeyError, msgspec.DecodeError):
        return DnsScaling(name=name, ladder=True, steps=_ladder(data.get("ladder", "")))
    return DnsScaling(
        name=name,
        cores_per_replica=linear.cores_per_replica,
        nodes_per_replica=linear.nodes_per_replica,
        minimum=linear.min,
        maximum=linear.max,
    )


class _Ladder(msgspec.Struct, rename="camel"):
    nodes_to_replicas: list[tuple[int, int]] = []


def _ladder(text: str) -> tuple[tuple[int, int], ...]:
    try:
        return tuple(msgspec.json.decode(text, type=_Ladder).nodes_to_replicas)
    except msgspec.DecodeError:
        return ()
