"""Reads the planted clusters of this folder and loads them into a control plane.

No controller runs, so what is loaded stays as it is: pods have owners, nodes and phases because
the files say so.
"""

import string
import time
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import shapes
from tests.cluster.client import Client, wait_until

Object = dict[str, Any]

FOLDER = Path(__file__).resolve().parent
EARLY = ("CustomResourceDefinition",)
# Each of these needs the uid of one before it, or would refuse what comes after it.
LATE = (
    ("ReplicaSet",),
    ("Pod",),
    ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService"),
)
OWNERS = {
    "Deployment": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "Job": "batch/v1",
}
# Without a controller-manager nobody would lift the taints of new nodes.
# The metrics of the server's storage are a minute old by default.
API_FLAGS = (
    "--disable-admission-plugins=TaintNodesByCondition",
    "--etcd-count-metric-poll-period=2s",
    "--etcd-db-metric-poll-interval=2s",
)


def toml(name: str) -> Any:
    """One of the folder's TOML files."""
    return tomllib.loads((FOLDER / name).read_text())


def variants() -> dict[str, Any]:
    """The index: what each variant is made of."""
    found: dict[str, Any] = toml("index.toml")["variant"]
    return found


def api_flags(variant: Any) -> tuple[str, ...]:
    """Flags for the API server that serves the variant."""
    return (*API_FLAGS, *variant["api_flags"])


def node_names(variant: Any) -> list[str]:
    """All nodes, in the order in which repeated documents are dealt out over them."""
    suffix = variant.get("node_suffix", "")
    return [
        f"{pool}-{n}{suffix}" if count else pool
        for pool, count in variant["nodes"]
        for n in range(max(count, 1))
    ]


def objects(variant: Any) -> list[Object]:
    """Everything of one variant, repeated documents and the static pods included."""
    rules = {(rule["kind"], rule["name"]): rule for rule in variant["repeat"]}
    made = [crd for crd in documents("crds.yaml") if crd["spec"]["group"] in variant["crds"]]
    for file in variant["files"]:
        for text in (FOLDER / file).read_text().split("\n---\n"):
            made += _repeated(text, rules, variant)
    if rules:
        raise ValueError(f"index.toml repeats what is in no file: {sorted(rules)}")
    return made + static_pods(variant.get("control_plane"))


def documents(file: str) -> Iterator[Object]:
    """The documents of a YAML file of the folder as they stand."""
    yield from (one for one in yaml.safe_load_all((FOLDER / file).read_text()) if one)


def static_pods(control_plane: Any) -> list[Object]:
    """The mirrors of kubeadm's static pods, running, with the variant's flags on top."""
    if not control_plane:
        return []
    pods = shapes.control_plane_pods(
        control_plane["count"],
        etcd=control_plane.get("etcd"),
        api_server=control_plane.get("api_server"),
        controller_manager=control_plane.get("controller_manager"),
        scheduler=control_plane.get("scheduler"),
        cluster_cidr=control_plane["cluster_cidr"],
    )
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    omitted = control_plane.get("omit", [])
    return [
        {**pod, "status": running}
        for pod in pods
        if pod["metadata"]["labels"]["component"] not in omitted
    ]


def _repeated(text: str, rules: dict[tuple[str, str], Any], variant: Any) -> Iterator[Object]:
    template = yaml.safe_load(text)
    if not template:
        return
    rule = rules.pop((template["kind"], template["metadata"]["name"]), None)
    if rule is None:
        yield _filled(template, {"now": _now()})
        return
    nodes = node_names(variant)
    workers = [name for name in nodes if name.startswith("worker-")] or nodes
    lagging = [name for name in nodes if name.startswith("lagging-")] or nodes
    for n in range(rule["count"]):
        at = n + rule.get("first", 0)
        values = {
            "n": str(n),
            "now": _now(),
            "node": nodes[at % len(nodes)],
            "worker": workers[at % len(workers)],
            "ten": workers[at % min(10, len(workers))],
            "lagging": lagging[at % len(lagging)],
            "zone": shapes.ZONES[at % len(shapes.ZONES)],
            "block": f"{n // 4}.{n % 4 * 64}",
            "block_name": f"{n // 4}-{n % 4 * 64}",
        }
        one = _filled(template, values)
        if "endpoints" in rule:
            one["endpoints"] = _endpoints(n, rule["endpoints"], workers)
        if "kilobytes" in rule:
            one["data"] = {key: "x" * 1000 * rule["kilobytes"] for key in one["data"]}
        yield one


def _filled(tree: Any, values: dict[str, str]) -> Any:
    """The tree with $n and its like filled in, in keys too."""
    if isinstance(tree, dict):
        return {_filled(key, values): _filled(one, values) for key, one in tree.items()}
    if isinstance(tree, list):
        return [_filled(one, values) for one in tree]
    if isinstance(tree, str) and "$" in tree:
        return string.Template(tree).safe_substitute(values)
    return tree


def _endpoints(number: int, count: int, workers: list[str]) -> list[Object]:
    ready = {"ready": True, "serving": True, "terminating": False}
    return [
        {
            "addresses": [f"10.240.{number % 60}.{1 + n}"],
            "nodeName": workers[(number + n) % len(workers)],
            "zone": shapes.ZONES[n % len(shapes.ZONES)],
            "conditions": ready,
        }
        for n in range(count)
    ]


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())


def load(client: Client, every: Iterable[Object]) -> None:
    """Load in stages: definitions, the bulk, then owners before what they own, webhooks last."""
    left = list(every)
    uids: dict[tuple[str, str, str], str] = {}
    stages = [EARLY, *LATE]
    definitions = [one for one in left if one["kind"] in EARLY]
    bulk = [one for one in left if not any(one["kind"] in stage for stage in stages)]
    for crd in definitions:
        client.create(crd)
    for crd in definitions:
        version = crd["spec"]["versions"][0]["name"]
        path = f"/apis/{crd['spec']['group']}/{version}/{crd['spec']['names']['plural']}"
        wait_until(lambda path=path: client.status(path) == 200, 30, path)  # type: ignore[misc]
    client.plurals.clear()
    client.apply(bulk)
    for stage in LATE:
        for kind, version in OWNERS.items():
            if not any(one["kind"] == kind for one in left):
                continue
            for held in client.items(f"/apis/{version}/{kind.lower()}s"):
                meta = held["metadata"]
                uids[kind, meta["namespace"], meta["name"]] = meta["uid"]
        client.apply(_owned(one, uids) for one in left if one["kind"] in stage)
    _settle(client, [one for one in left if one["kind"] == "APIService"])
    pods = sum(one["kind"] == "Pod" for one in left)
    wait_until(lambda: _counted(client, "pods") == pods, 30, "the metrics count all pods")


def _owned(one: Object, uids: dict[tuple[str, str, str], str]) -> Object:
    meta = one["metadata"]
    owners = [
        {
            "apiVersion": OWNERS[owner["kind"]],
            **owner,
            "uid": uids[owner["kind"], meta["namespace"], owner["name"]],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        for owner in meta.get("ownerReferences", [])
        if "uid" not in owner
    ]
    return {**one, "metadata": {**meta, "ownerReferences": owners}} if owners else one


def _settle(client: Client, services: list[Object]) -> None:
    """Wait until the server has said of each aggregated API that nobody serves it."""
    for one in services:
        path = client.path_of(one, named=True)

        def said(path: str = path) -> bool:
            conditions = client.get(path).get("status", {}).get("conditions", [])
            return any(c["type"] == "Available" for c in conditions)

        wait_until(said, 30, path)


def _counted(client: Client, resource: str) -> int:
    """How many objects the server's own metrics say that there are."""
    label = f'resource="{resource}"'
    for line in client.get("/metrics").splitlines():
        name, _, value = line.rpartition(" ")
        # The second is the name before 1.34.
        if name.startswith(("apiserver_resource_objects{", "apiserver_storage_objects{")) and (
            label in name
        ):
            return int(float(value))
    return -1
