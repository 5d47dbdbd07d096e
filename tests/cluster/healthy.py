"""A cluster of 200 nodes as kubeadm and the usual add-ons make it, with nothing planted in it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import shapes, workloads
from tests.cluster.client import Client, wait_until
from tests.cluster.control_plane import ControlPlane

Object = dict[str, Any]

CONTROL_PLANE_NODES = 3
WORKERS = 197
NODES = CONTROL_PLANE_NODES + WORKERS
# Deployment → replicas, each behind a Service of its own name.
SHOP = {"cart": 40, "catalog": 60, "checkout": 20, "search": 80}
NAMESPACE = "shop"
# The mirrors of 4 components a node, 2 DaemonSets, 2 of DNS, 1 autoscaler, and the shop.
PODS = 4 * CONTROL_PLANE_NODES + 2 * NODES + 2 + 1 + sum(SHOP.values())


@dataclass(frozen=True)
class Cluster200:
    """The healthy cluster of 200 nodes, all Ready, seen as admin."""

    plane: ControlPlane
    client: Client
    kubeconfig: Path
    load_seconds: float


def objects() -> list[Object]:
    """Everything that is loaded; the pods of workloads come from the controller-manager."""
    made = [
        shapes.namespace(NAMESPACE),
        *shapes.control_plane(CONTROL_PLANE_NODES),
        *shapes.nodes(WORKERS),
        *shapes.kube_proxy(),
        *shapes.flannel(),
        *shapes.coredns(replicas=2),
        shapes.cluster_autoscaler("--max-nodes-total=1000", "--expander=least-waste"),
    ]
    for name, replicas in SHOP.items():
        made.append(workloads.web_deployment(name, NAMESPACE, replicas))
        made.append(shapes.service(name, NAMESPACE, {"app": name}))
    return made


def load(client: Client) -> float:
    """Load it; return after how many seconds all pods ran and all endpoints were ready."""
    began = time.monotonic()
    client.apply(objects())
    wait_until(lambda: ready_nodes(client) >= NODES, 120, f"{NODES} nodes Ready")
    wait_until(lambda: running_pods(client) >= PODS, 240, f"{PODS} pods Running and Ready")
    for name, replicas in SHOP.items():
        wait_until(
            lambda name=name, replicas=replicas: (  # type: ignore[misc]
                ready_endpoints(client, NAMESPACE, name) == replicas
            ),
            120,
            f"{replicas} endpoints of {name} ready",
        )
    return time.monotonic() - began


def ready_nodes(client: Client) -> int:
    """How many nodes are Ready."""
    return sum(_is_true(one, "Ready") for one in client.items("/api/v1/nodes"))


def running_pods(client: Client) -> int:
    """How many pods run and are Ready."""
    return sum(
        one["status"].get("phase") == "Running" and _is_true(one, "Ready")
        for one in client.items("/api/v1/pods")
    )


def ready_endpoints(client: Client, namespace: str, service: str) -> int:
    """How many endpoints of a service are ready, over all its slices."""
    slices = client.items(
        f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        f"?labelSelector=kubernetes.io/service-name={service}"
    )
    return sum(
        bool(endpoint.get("conditions", {}).get("ready"))
        for one in slices
        for endpoint in one.get("endpoints") or []
    )


def _is_true(one: Object, condition: str) -> bool:
    return any(
        found["type"] == condition and found["status"] == "True"
        for found in one.get("status", {}).get("conditions", [])
    )
