"""The control plane that other tests stand on: is it real, does it hold, does it go away."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster import cilium, healthy, shapes, volumes, workloads
from tests.cluster.build import kubernetes_version
from tests.cluster.client import ApiError, wait_until
from tests.cluster.control_plane import ControlPlane, sweep
from tests.cluster.given_cluster import GivenCluster, NotOurs

ROOT = Path(__file__).resolve().parents[2]
# Longer than a lease (40 s) and the controller-manager's grace (50 s).
STAY_SECONDS = 65


def test_the_server_reports_the_version_that_was_built(own_control_plane: ControlPlane) -> None:
    version = own_control_plane.client().get("/version")
    assert version["gitVersion"] == kubernetes_version()
    assert (version["major"], version["minor"]) == ("1", "37")


def test_two_hundred_nodes_and_their_endpoints_stay_ready(cluster_200: healthy.Cluster200) -> None:
    client = cluster_200.client
    for pause in (0, STAY_SECONDS / 2, STAY_SECONDS / 2):
        time.sleep(pause)
        assert healthy.ready_nodes(client) == healthy.NODES
        assert healthy.running_pods(client) == healthy.PODS
        for service, replicas in healthy.SHOP.items():
            assert healthy.ready_endpoints(client, healthy.NAMESPACE, service) == replicas
        assert healthy.ready_endpoints(client, "kube-system", "kube-dns") == 2


def test_every_node_has_a_pod_block_and_an_address_of_its_own(
    cluster_200: healthy.Cluster200,
) -> None:
    nodes = cluster_200.client.items("/api/v1/nodes")
    assert len({node["spec"]["podCIDR"] for node in nodes}) == healthy.NODES
    addresses = {
        address["address"]
        for node in nodes
        for address in node["status"]["addresses"]
        if address["type"] == "InternalIP"
    }
    assert len(addresses) == healthy.NODES
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes} == {shapes.VERSION}


def test_static_pods_show_kubeadms_flags_on_their_own_node(cluster_200: healthy.Cluster200) -> None:
    mirrors = cluster_200.client.items(
        "/api/v1/namespaces/kube-system/pods?labelSelector=tier=control-plane"
    )
    assert len(mirrors) == 4 * healthy.CONTROL_PLANE_NODES
    for mirror in mirrors:
        command = mirror["spec"]["containers"][0]["command"]
        assert "kubernetes.io/config.mirror" in mirror["metadata"]["annotations"]
        assert mirror["metadata"]["name"].endswith(mirror["spec"]["nodeName"])
        assert not any(word.startswith("--quota-backend-bytes") for word in command)


def test_the_audit_log_holds_what_was_asked_and_by_whom(own_control_plane: ControlPlane) -> None:
    own_control_plane.client("nobody").status("/api/v1/nodes?limit=7")
    own_control_plane.client().status("/api/v1/nodes?limit=8")

    def asked(user: str) -> list[tuple[str, int]]:
        return [
            (event["requestURI"], event["responseStatus"]["code"])
            for event in own_control_plane.audit_events(user)
        ]

    wait_until(lambda: ("/api/v1/nodes?limit=7", 403) in asked("nobody"), 10, "nobody is logged")
    wait_until(lambda: ("/api/v1/nodes?limit=8", 200) in asked("admin"), 10, "admin is logged")
    assert {event["level"] for event in own_control_plane.audit_events("nobody")} == {"Metadata"}


@pytest.mark.parametrize("user", ["nobody", "auditor"])
def test_a_user_without_a_role_is_refused(own_control_plane: ControlPlane, user: str) -> None:
    client = own_control_plane.client(user)
    assert client.status("/version") == 200
    with pytest.raises(ApiError) as refused:
        client.get("/api/v1/nodes")
    assert refused.value.status == 403
    assert own_control_plane.kubeconfig(user).stat().st_mode & 0o777 == 0o600


def test_a_wrong_token_is_nobody_at_all(own_control_plane: ControlPlane) -> None:
    client = own_control_plane.client()
    client.headers = {"Authorization": "Bearer wrong"}
    assert client.status("/api/v1/nodes") == 401


def test_claims_get_bound_and_agents_run_on_every_node(cluster_200: healthy.Cluster200) -> None:
    client = cluster_200.client
    made = [
        shapes.namespace("shapes"),
        *volumes.stateful_volumes(10, "shapes", ["workers-0000", "workers-0001"]),
        *workloads.telemetry_agent("telemetry", "shapes"),
        workloads.web_deployment("apart", "shapes", 5, anti_affinity=True),
        *shapes.dns_autoscaler(),
        *shapes.calico(typha_replicas=3),
        *cilium.cilium({"ipam": "kubernetes"}),
        workloads.webhook("policy", resources=("ingresses",)),
    ]
    client.apply(made)
    # What is there already is replaced, so an apply can be repeated; bound volumes are fixed.
    client.apply(one for one in made if not one["kind"].startswith("PersistentVolume"))
    agents = 3 * healthy.NODES
    try:
        claims = "/api/v1/namespaces/shapes/persistentvolumeclaims"
        wait_until(
            lambda: all(one["status"]["phase"] == "Bound" for one in client.items(claims)),
            60,
            "claims are bound",
        )
        attachments = client.items("/apis/storage.k8s.io/v1/volumeattachments")
        assert [one["status"]["attached"] for one in attachments] == [True] * 10
        wait_until(
            lambda: healthy.running_pods(client) == healthy.PODS + agents + 5 + 1 + 3 + 2,
            120,
            "the pods of every shape run",
        )
    finally:
        for one in reversed(made):
            client.delete(one)
        wait_until(lambda: healthy.running_pods(client) == healthy.PODS, 120, "they are gone")
        wait_until(
            lambda: client.status("/api/v1/namespaces/shapes") == 404, 60, "the namespace is gone"
        )


def test_an_emulated_older_minor_is_what_the_server_says_it_is(binaries: Path) -> None:
    with ControlPlane(components=("etcd", "kube-apiserver"), emulated_version="1.36") as plane:
        assert plane.client().get("/version")["emulationMinor"] == "36"
        assert list(plane.processes) == ["etcd", "kube-apiserver"]


def test_after_stop_no_process_and_no_folder_is_left(binaries: Path) -> None:
    plane = ControlPlane()
    plane.start()
    pids = [process.pid for process in plane.processes.values()]
    assert len(pids) == 5
    assert all(runs(pid) for pid in pids)
    plane.stop()
    assert not any(runs(pid) for pid in pids)
    assert not plane.folder.exists()


def test_a_killed_test_run_takes_its_servers_along(binaries: Path) -> None:
    script = (
        "import time\n"
        "from tests.cluster.control_plane import ControlPlane\n"
        "plane = ControlPlane(components=('etcd', 'kube-apiserver'))\n"
        "plane.start()\n"
        "print(plane.folder, *(one.pid for one in plane.processes.values()), flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as run:
        assert run.stdout is not None
        folder, *words = run.stdout.readline().split()
        sweep()
        assert Path(folder).exists()
        run.kill()
    pids = [int(word) for word in words]
    assert len(pids) == 2
    wait_until(lambda: not any(runs(pid) for pid in pids), 10, "the servers are gone")
    # The next run finds the data folder without an owner; here as if a while had passed.
    os.utime(Path(folder) / "lock", (0, 0))
    sweep()
    assert not Path(folder).exists()


def test_a_program_that_ends_at_once_is_reported_with_its_last_words(binaries: Path) -> None:
    plane = ControlPlane(components=("etcd", "kube-apiserver"), api_flags=("--no-such-flag",))
    with pytest.raises(RuntimeError, match=r"(?s)kube-apiserver ended.*no-such-flag"):
        plane.start()
    assert not plane.processes
    assert not plane.folder.exists()


def test_a_given_cluster_has_the_same_face(own_control_plane: ControlPlane) -> None:
    given = GivenCluster(own_control_plane.kubeconfig())
    assert given.server == own_control_plane.server
    assert given.client().get("/version")["gitVersion"] == kubernetes_version()
    with pytest.raises(NotOurs, match="nobody"):
        given.client("nobody")
    with pytest.raises(NotOurs, match="audit"):
        given.audit_events()


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that nobody has waited for yet does not run.
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
