"""A real API server over an etcd that was filled with a large cluster before it started.

Objects are written as JSON under the keys of the API server, through etcd's own JSON gateway: a
minute for 5,000 nodes and 150,000 pods. The API server reads JSON values as well as protobuf.
Nothing that would act on the objects runs.
"""

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import urllib3

from tests.cluster import shapes
from tests.cluster.control_plane import ControlPlane

PUTS = 64
CONNECTIONS = 6
CREATED = "2026-01-01T00:00:00Z"
Object = dict[str, Any]


class FilledControlPlane(ControlPlane):
    """etcd and API server; ``nodes``, ``pods`` and ``services`` say how much there is."""

    def __init__(self, nodes: int, pods: int, services: int) -> None:
        super().__init__(components=("etcd", "kube-apiserver"))
        self.size = (nodes, pods, services)

    def _start_etcd(self) -> None:
        super()._start_etcd()
        entries = objects(*self.size)
        lock = threading.Lock()
        pool = urllib3.PoolManager(maxsize=CONNECTIONS, block=True, retries=False)
        failed: list[BaseException] = []

        def write() -> None:
            try:
                while True:
                    with lock:
                        batch = [entry for _, entry in zip(range(PUTS), entries, strict=False)]
                    if not batch:
                        return
                    puts = [
                        {"requestPut": {"key": _text(key), "value": _text(json.dumps(one))}}
                        for key, one in batch
                    ]
                    answer = pool.request(
                        "POST",
                        f"{self.etcd_url}/v3/kv/txn",
                        body=json.dumps({"success": puts}),
                        timeout=60,
                    )
                    if answer.status != 200:
                        raise RuntimeError(f"etcd said {answer.status}: {answer.data[:200]!r}")
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=write) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        pool.clear()
        if failed:
            raise failed[0]


def objects(nodes: int, pods: int, services: int) -> Iterator[tuple[str, Object]]:
    """(etcd key, object) of everything; sizes as on clusters that run, managedFields included."""
    spaces = max(pods // 1500, 1)
    for number in range(spaces):
        yield f"/registry/namespaces/team-{number}", _stored(shapes.namespace(f"team-{number}"))
    for number, node in enumerate(shapes.nodes(nodes)):
        node["spec"]["podCIDR"] = f"10.{number // 256}.{number % 256}.0/24"
        node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        node["status"]["images"] = [
            {"names": [f"registry.example/team/image-{n}:v1"], "sizeBytes": 10_000_000 * n}
            for n in range(40)
        ]
        yield f"/registry/minions/{node['metadata']['name']}", _stored(node)
    for number in range(pods):
        space, name = f"team-{number % spaces}", f"app-{number // 16:05}-{number:06}"
        yield f"/registry/pods/{space}/{name}", _stored(_pod(number, space, name, nodes))
    for number in range(services):
        space, name = f"team-{number % spaces}", f"service-{number:05}"
        service = shapes.service(name, space, {"app": f"app-{number:05}"})
        service["spec"] |= {
            "type": "ClusterIP",
            "clusterIP": f"10.{96 + number // 65536}.{number // 256 % 256}.{number % 256}",
        }
        yield f"/registry/services/specs/{space}/{name}", _stored(service)


def _pod(number: int, space: str, name: str, nodes: int) -> Object:
    app = f"app-{number // 16:05}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": space,
            "labels": {"app": app, "pod-template-hash": "5d4f8c7b9", "tier": "backend"},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"{app}-5d4f8c7b9",
                    "uid": f"00000000-0000-4000-8000-{number // 16:012}",
                    "controller": True,
                }
            ],
            "managedFields": [
                {
                    "manager": "kubelet",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": CREATED,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:status": {f"f:field-{n}": {} for n in range(40)}},
                }
            ],
        },
        "spec": {
            "nodeName": f"workers-{number % nodes:04}",
            "serviceAccountName": "default",
            "containers": [
                {
                    "name": "main",
                    "image": f"registry.example/team/{app}:v1.{number % 7}",
                    "args": [f"--option-{n}=value-{n}" for n in range(20)],
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                    "volumeMounts": [
                        {
                            "name": f"kube-api-access-{number % 99999:05}",
                            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                            "readOnly": True,
                        }
                    ],
                }
            ],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.{number // 65536}.{number // 256 % 256}.{number % 256}",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": CREATED}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": 0, "image": "x", "imageID": "y"}
            ],
        },
    }


def _stored(one: Object) -> Object:
    meta = one["metadata"]
    identity = abs(hash((one["kind"], meta.get("namespace"), meta["name"]))) % 10**12
    meta.setdefault("uid", f"00000000-0000-4000-8000-{identity:012}")
    meta.setdefault("creationTimestamp", CREATED)
    return one


def _text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
