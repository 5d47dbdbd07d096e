"""A cluster of 200 nodes with a fault for each of the first twelve checks, and each one's cure."""

from collections.abc import Callable, Iterable
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
        *shapes.calico(name="canal"),
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


Cure = Callable[[Client], None]


def cures() -> dict[str, Cure]:
    """What an operator would do about each fault, by check id."""
    return {
        "ADDR001": _flags("controller_manager", {"node-cidr-mask-size": "27"}),
        "API011": lambda client: client.delete(shapes.cluster_role("telemetry", TELEMETRY_RULES)),
        "AS002": _autoscaler("--max-nodes-total=5000", AUTOSCALER_FAULTS[1]),
        "AS006": _autoscaler("--max-nodes-total=5000", "--max-total-unready-percentage=45"),
        "CNI003": _apply(shapes.calico(typha_replicas=10, name="canal")),
        "DNS001": _apply(shapes.dns_autoscaler()),
        "ETCD001": _flags("etcd", {"quota-backend-bytes": "8589934592"}),
        "ETCD008": _flags("api_server", {"etcd-servers-overrides": EVENTS_APART}),
        "SCHED001": _flags("scheduler", {"kube-api-qps": "100", "kube-api-burst": "200"}),
        "SCHED006": _scale_away,
        "STOR001": lambda client: _remove(
            client,
            (shapes.attachment(f"attachment-{n:02}", DRIVER, "workers-0000") for n in range(10)),
        ),
        "STOR013": lambda client: _remove(
            client, (shapes.claim(f"claim-{n:04}", "data") for n in range(10))
        ),
    }


EVENTS_APART = "/events#https://127.0.0.1:2383"


def _flags(component: str, flags: dict[str, str]) -> Cure:
    name = component if component == "etcd" else "kube-" + component.replace("_", "-")
    name = name.replace("kube-api-server", "kube-apiserver")

    def cure(client: Client) -> None:
        for pod in shapes.control_plane_pods(**{component: flags}):  # type: ignore[arg-type]
            if pod["metadata"]["labels"]["component"] == name:
                # A mirror's flags can't be changed in place; the kubelet makes a new one.
                client.delete(pod)
                wait_until(lambda pod=pod: not _there(client, pod), 30, "the old mirror gone")  # type: ignore[misc]
                client.create(pod)

    return cure


def _there(client: Client, one: Object) -> bool:
    return client.status(client.path_of(one, named=True)) == 200


def _autoscaler(*flags: str) -> Cure:
    return _apply([shapes.cluster_autoscaler(*flags)])


def _apply(objects: list[Object]) -> Cure:
    return lambda client: client.apply(objects)


def _remove(client: Client, objects: Iterable[Object]) -> None:
    for one in objects:
        client.delete(one)
        # Protection by a finalizer waits for a controller; the fault is cured when it is gone.
        wait_until(lambda one=one: not _there(client, one), 30, "it is gone")  # type: ignore[misc]


def _scale_away(client: Client) -> None:
    apart = shapes.deployment("apart", "web", labels={"app": "apart"})
    client.patch(apart, {"spec": {"replicas": 0}})
    wait_until(
        lambda: not client.items("/api/v1/namespaces/web/pods?labelSelector=app=apart"),
        60,
        "the pods with affinity gone",
    )
