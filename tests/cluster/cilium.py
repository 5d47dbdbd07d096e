"""Cilium as its chart installs it: agent on every node, operator, and one ConfigMap for both."""

from typing import Any

from tests.cluster import shapes

Object = dict[str, Any]
IMAGE_TAG = "v1.18.4"
# The settings that bear on scale, at the chart's defaults.
DEFAULTS = {
    "bpf-ct-global-any-max": "262144",
    "bpf-ct-global-tcp-max": "524288",
    "bpf-lb-map-max": "65536",
    "bpf-map-dynamic-size-ratio": "0.0025",
    "bpf-policy-map-max": "16384",
    "cluster-pool-ipv4-cidr": "10.0.0.0/8",
    "cluster-pool-ipv4-mask-size": "24",
    "enable-ipv4": "true",
    "enable-ipv6": "false",
    "identity-allocation-mode": "crd",
    "ipam": "cluster-pool",
    "kube-proxy-replacement": "false",
    "routing-mode": "tunnel",
    "tunnel-protocol": "vxlan",
}


def cilium(config: dict[str, str] | None = None, operator_replicas: int = 2) -> list[Object]:
    """ConfigMap, DaemonSet and operator; ``config`` is laid over the chart's defaults."""
    operator_labels = {"io.cilium/app": "operator", "name": "cilium-operator"}
    return [
        shapes.config_map("cilium-config", {**DEFAULTS, **(config or {})}),
        shapes.daemon_set(
            "cilium",
            labels={"k8s-app": "cilium"},
            container={
                "image": f"registry.example/cilium/cilium:{IMAGE_TAG}",
                "command": ["cilium-agent"],
                "args": ["--config-dir=/tmp/cilium/config-map"],
            },
            hostNetwork=True,
            priorityClassName="system-node-critical",
        ),
        shapes.deployment(
            "cilium-operator",
            "kube-system",
            replicas=operator_replicas,
            labels=operator_labels,
            container={
                "image": f"registry.example/cilium/operator-generic:{IMAGE_TAG}",
                "command": ["cilium-operator-generic"],
                "args": ["--config-dir=/tmp/cilium/config-map", "--debug=false"],
            },
            hostNetwork=True,
            affinity=shapes.anti_affinity({"io.cilium/app": "operator"}),
            tolerations=[{"operator": "Exists"}],
            priorityClassName="system-cluster-critical",
        ),
    ]
