"""Records the demo snapshot from the real control plane: ``python -m tests.cluster.demo``.

A cluster of 600 nodes on its way to 1,200, with something to mend in every area.
"""

import datetime
import re
from typing import Any

import msgspec

from kauditor import __version__, packs
from kauditor import scan as corridor
from kauditor.demo import FILE
from kauditor.model.fact import Unknown
from kauditor.model.snapshot import Snapshot, encode
from kauditor.model.source import Where
from kauditor.sources.live.connection import ConnectOptions, connect
from tests.cluster import shapes
from tests.cluster.client import Client, wait_until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.planted import ready_nodes, running

Object = dict[str, Any]
WORKERS = 597
GPU_NODES = 24
EDGE_NODES = 80
DRIVER = "block.csi.example"
WHERE = Where(
    name="demo", context="demo", server="https://demo.invalid:6443", identity="demo-auditor"
)
NO_UID = "00000000-0000-4000-8000-000000000000"


def objects() -> list[Object]:
    """Everything but CSINodes."""
    apart = {"app": "search"}
    edge = {"taints": [{"key": "edge", "effect": "NoSchedule"}]}
    gpu = {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}
    return [
        *(shapes.namespace(name) for name in ("shop", "telemetry", "data")),
        *shapes.control_plane_nodes(),
        *shapes.nodes(WORKERS - GPU_NODES - EDGE_NODES, cpu="16", memory="64Gi"),
        # Slots for the three DaemonSets and nothing more: full by count, idle by CPU.
        *shapes.nodes(EDGE_NODES, pool="edge", cpu="8", memory="32Gi", pods="3", **edge),
        *shapes.nodes(GPU_NODES, pool="gpu", cpu="96", memory="1Ti", **gpu),
        *shapes.control_plane_pods(cluster_cidr="10.244.0.0/14"),
        shapes.kubeadm_config("10.244.0.0/14"),
        *shapes.kube_proxy(),
        *shapes.calico(typha_replicas=4, name="canal"),
        *shapes.coredns(replicas=48),
        shapes.cluster_autoscaler("--max-nodes-total=900", "--max-total-unready-percentage=100"),
        *shapes.agent(
            "log-shipper",
            "telemetry",
            [{"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]}],
        ),
        *(shapes.deployment(f"shop-{n}", "shop", replicas=60) for n in range(20)),
        *(shapes.service(f"shop-{n}", "shop", {"app": f"shop-{n}"}) for n in range(20)),
        shapes.deployment(
            "search", "shop", replicas=220, labels=apart, affinity=shapes.anti_affinity(apart)
        ),
        *(shapes.attachment(f"volume-{n:02}", DRIVER, "workers-0000") for n in range(23)),
        *(shapes.claim(f"claim-{n:03}", "data") for n in range(400)),
    ]


def load(client: Client) -> None:
    """Load it and wait until all of it stands."""
    client.apply(objects())
    wait_until(lambda: ready_nodes(client) == WORKERS + 3, 180, "all nodes Ready")
    client.apply(
        shapes.csi_node(f"workers-{n:04}", DRIVER, 25)
        for n in range(WORKERS - GPU_NODES - EDGE_NODES)
    )
    expected = 12 + 3 * (WORKERS + 3) + 48 + 4 + 1 + 1200 + 220
    wait_until(lambda: running(client) >= expected, 300, f"{expected} pods Running")
    # The server counts its objects once a minute; before that, what they show is unknown.
    wait_until(lambda: _counted(client) >= expected, 150, "the API server's own count of pods")


def _counted(client: Client) -> float:
    text = client.get("/metrics")
    found = re.search(
        r'^apiserver_resource_objects\{group="",resource="pods"\} (\S+)', text, re.MULTILINE
    )
    return float(found.group(1)) if found else 0.0


def record() -> Snapshot:
    """Start a control plane, load it, read it, and take what is this machine's out of it."""
    with ControlPlane() as plane:
        load(plane.client())
        source = connect(ConnectOptions(kubeconfig=str(plane.kubeconfig()), qps=0))
        taken = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        snapshot = corridor.read(
            source, packs.load(installed=False), version=__version__, taken=taken
        )
    facts = {
        kind: msgspec.structs.replace(fact, uid=NO_UID)
        if not isinstance(fact, Unknown) and kind.__name__ == "ClusterIdentity"
        else fact
        for kind, fact in snapshot.facts.items()
    }
    cost = msgspec.structs.replace(snapshot.cost, priority_level="")
    return msgspec.structs.replace(snapshot, where=WHERE, facts=facts, cost=cost)


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(encode(record()))
    print(f"recorded {FILE}")
