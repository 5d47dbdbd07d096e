"""A cluster of 200 nodes with a fault for each of the first twelve checks, and each one's cure."""

from collections.abc import Callable
from typing import Any

from tests.cluster import shapes
from tests.cluster.client import Client, wait_until

Object = dict[str, Any]

NODES = 197
DRIVER = "ebs.csi.aws.com"
CLAIMS = 2001
AUTOSCALER_FAULTS = ("--max-nodes-total=250", "--max-total-unready-percentage=100")
TELEMETRY_RULES = [{"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]}]


def objects() -> list[Object]:
    """Everything, nodes first; three control-plane nodes make it 200."""
    apart = {"app": "apart"}
    return [
        shapes.namespace("web"),
        shapes.namespace("telemetry"),
        shapes.namespace("data"),
        *shapes.control_plane_nodes(),
        *shapes.nodes(NODES),
        *shapes.control_plane_pods(cluster_cidr="10.244.0.0/16"),
        shapes.kubeadm_config(),
        *shapes.kube_proxy(),
        *shapes.flannel(),
        *shapes.coredns(),
        shapes.cluster_autoscaler(*AUTOSCALER_FAULTS),
        *shapes.agent("telemetry", "telemetry", TELEMETRY_RULES),
        shapes.deployment("web", "web", replicas=400),
        shapes.service("web", "web", {"app": "web"}),
        shapes.deployment(
            "apart", "web", replicas=80, labels=apart, affinity=shapes.anti_affinity(apart)
        ),
        *(shapes.attachment(f"attachment-{n:02}", DRIVER, "workers-0000") for n in range(24)),
        *(shapes.claim(f"claim-{n:04}", "data") for n in range(CLAIMS)),
    ]


def plant(client: Client) -> None:
    """Load it and wait until nodes are Ready and pods run."""
    client.apply(objects())
    wait_until(lambda: ready_nodes(client) == NODES + 3, 120, "200 nodes Ready")
    # CSINodes are made by the kubelet for its node; here by hand, once the nodes are there.
    client.apply(shapes.csi_node(f"workers-{n:04}", DRIVER, 25) for n in range(NODES))
    # 3 × 4 mirrors, 3 DaemonSets on 200 nodes, 2 of DNS, 1 autoscaler, 480 of the web.
    expected = 12 + 3 * (NODES + 3) + 2 + 1 + 480
    wait_until(lambda: running(client) >= expected, 240, f"{expected} pods Running")
    wait_until(lambda: ready_endpoints(client, "web", "web") == 400, 120, "endpoints ready")


def ready_nodes(client: Client) -> int:
    """How many nodes are Ready."""
    return sum(
        any(
            c["type"] == "Ready" and c["status"] == "True"
            for c in one["status"].get("conditions", [])
        )
        for one in client.items("/api/v1/nodes")
    )


def running(client: Client) -> int:
    """How many pods run."""
    return sum(one["status"].get("phase") == "Running" for one in client.items("/api/v1/pods"))


def ready_endpoints(client: Client, namespace: str, name: str) -> int:
    """How many endpoints of a service are ready."""
    slices = client.items(
        f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        f"?labelSelector=kubernetes.io/service-name={name}"
    )
    return sum(
        bool(endpoint.get("conditions", {}).get("ready"))
        for one in slices
        for endpoint in one.get("endpoints") or []
    )


# Check id → (state before, what takes the fault away). SCHED001 and ETCD008 need a large target.
Cure = Callable[[Client], None]


def cures() -> dict[str, Cure]:
    """What an operator would do about each fault."""

    def static(component: str, **flags: str) -> Cure:
        def cure(client: Client) -> None:
            pods = shapes.control_plane_pods(**{component: flags})  # type: ignore[arg-type]
            kind = component.replace("_", "-")
            wanted = {"api-server": "kube-apiserver", "etcd": "etcd"}.get(kind, f"kube-{kind}")
            for pod in pods:
                if pod["metadata"]["labels"]["component"] == wanted:
                    # A mirror's flags can't be changed in place; the kubelet makes a new one.
                    client.delete(pod)
                    client.create(pod)

        return cure

    def dashes(flags: dict[str, str]) -> dict[str, str]:
        return {name.replace("_", "-"): value for name, value in flags.items()}

    def remake(component: str, **flags: str) -> Cure:
        return static(component, **dashes(flags))

    def remove_attachments(client: Client) -> None:
        for n in range(10):
            client.delete(shapes.attachment(f"attachment-{n:02}", DRIVER, "workers-0000"))

    def remove_claims(client: Client) -> None:
        for n in range(10):
            client.delete(shapes.claim(f"claim-{n:04}", "data"))

    def autoscaler(*flags: str) -> Cure:
        return lambda client: client.create(shapes.cluster_autoscaler(*flags)) and None

    return {
        "ADDR001": remake("controller_manager", node_cidr_mask_size="27"),
        "API011": lambda client: client.delete(shapes.cluster_role("telemetry", TELEMETRY_RULES)),
        "AS002": autoscaler("--max-nodes-total=5000", "--max-total-unready-percentage=100"),
        "AS006": autoscaler("--max-nodes-total=5000", "--max-total-unready-percentage=45"),
        "DNS001": lambda client: client.apply(shapes.dns_autoscaler()),
        "ETCD001": remake("etcd", quota_backend_bytes="8589934592"),
        "ETCD008": remake("api_server", etcd_servers_overrides="/events#https://127.0.0.1:2383"),
        "SCHED001": remake("scheduler", kube_api_qps="100", kube_api_burst="200"),
        "SCHED006": lambda client: client.delete(shapes.deployment("apart", "web")),
        "STOR001": remove_attachments,
        "STOR013": remove_claims,
    }
