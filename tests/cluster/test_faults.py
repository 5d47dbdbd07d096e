"""Faults between kauditor and a real API server: no crash, no false pass, the right outcome."""

import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate import DOCS
from kauditor import packs
from kauditor import scan as corridor
from kauditor.collect import collect
from kauditor.facts.nodes import Nodes
from kauditor.facts.pods import Pods
from kauditor.model.fact import Unknown
from kauditor.model.finding import State
from kauditor.model.report import Report
from kauditor.model.snapshot import Snapshot
from kauditor.sources.live import pacing
from kauditor.sources.live.connection import ConnectError, ConnectOptions, connect
from tests.cluster import shapes
from tests.cluster.control_plane import USERS, ControlPlane
from tests.cluster.fault_proxy import Broken, Exchange, Fault, answered, changed, fault_proxy
from tests.cluster.faults import CASES, Case, page
from tests.unit.sources.test_live import kubeconfig

NODES, PODS = 60, 1200
TAKEN = "2026-01-01T00:00:00Z"
CHECKS = tuple(packs.load(installed=False))


@pytest.fixture(scope="module")
def plane(binaries: object) -> Iterator[ControlPlane]:
    """60 nodes on one page and 1,200 pods on three; nothing acts on them."""
    with ControlPlane(components=("etcd", "kube-apiserver")) as started:
        client = started.client()
        nodes = shapes.nodes(NODES)
        client.apply([shapes.namespace("web"), *nodes])
        client.apply(pod(number) for number in range(PODS))
        yield started


def pod(number: int) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number:04}", "namespace": "web"},
        "spec": {
            "nodeName": f"workers-{number % NODES:04}",
            "containers": [{"name": "web", "image": "registry.example/web:1"}],
        },
    }


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.sleep
    short = type("time", (), {**vars(time), "sleep": lambda seconds: real(min(seconds, 0.02))})
    monkeypatch.setattr(pacing, "time", short)


def on(path: str, at: int, make: Fault) -> Fault:
    def fault(exchange: Exchange) -> Broken | None:
        return make(exchange) if exchange.path == path and exchange.page == at else None

    return fault


def options(tmp_path: Path, server: str, **more: object) -> ConnectOptions:
    given = {"kubeconfig": kubeconfig(tmp_path, server), "qps": 0, "request_timeout": 2.0, **more}
    return ConnectOptions(**given)  # type: ignore[arg-type]


def read(plane: ControlPlane, tmp_path: Path, fault: Fault) -> Snapshot:
    with fault_proxy(plane.server, plane.ca_file, USERS["admin"], fault) as proxy:
        source = connect(options(tmp_path, proxy.url))
        return collect([Nodes, Pods], source, tool="test", taken=TAKEN)


def outcome(snapshot: Snapshot, kind: str) -> str:
    return next(one.outcome for one in snapshot.cost.kinds if one.kind == kind)


def test_without_a_fault_all_is_seen(plane: ControlPlane, tmp_path: Path) -> None:
    snapshot = read(plane, tmp_path, lambda exchange: None)
    nodes, pods = snapshot.fact(Nodes), snapshot.fact(Pods)
    assert isinstance(nodes, Nodes)
    assert isinstance(pods, Pods)
    assert (nodes.count, pods.total) == (NODES, PODS)


def test_thirty_faults_are_tried_on_both_kinds() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_on_a_kind_of_one_page(plane: ControlPlane, tmp_path: Path, case: Case) -> None:
    snapshot = read(plane, tmp_path, on("/api/v1/nodes", 0, case.make))
    assert outcome(snapshot, "nodes") == case.outcome
    nodes, pods = snapshot.fact(Nodes), snapshot.fact(Pods)
    # An empty list is known to be empty; of a cluster without nodes nothing can be projected.
    empty = "items null" in case.name
    assert isinstance(nodes, Unknown) == (not case.known or empty)
    if isinstance(nodes, Nodes):
        assert nodes.count == NODES
    assert isinstance(pods, Pods)
    assert pods.total == PODS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_on_the_second_page_of_three(
    plane: ControlPlane, tmp_path: Path, case: Case
) -> None:
    snapshot = read(plane, tmp_path, on("/api/v1/pods", 1, case.make))
    pods, nodes = snapshot.fact(Pods), snapshot.fact(Nodes)
    assert isinstance(nodes, Nodes)
    assert outcome(snapshot, "pods") == case.outcome
    assert isinstance(pods, Unknown) == (not case.known)
    if isinstance(pods, Pods):
        # A server that ends its list early, or empties a page, is believed: it may be so.
        cut = {"items null: an empty list": 500, "list without metadata: the last page": 1000}
        assert pods.total == cut.get(case.name, PODS)


def test_an_expired_list_goes_on_where_the_server_offers_a_token(
    plane: ControlPlane, tmp_path: Path
) -> None:
    def fault(exchange: Exchange) -> Broken | None:
        if exchange.path == "/api/v1/pods" and exchange.page == 1 and exchange.tries == 0:
            offered = exchange.query["continue"][0]
            told = changed(exchange, lambda document: None)
            told.status = 410
            told.body = (
                b'{"kind":"Status","code":410,"metadata":{"continue":"' + offered.encode() + b'"}}'
            )
            return told
        return None

    snapshot = read(plane, tmp_path, fault)
    pods = snapshot.fact(Pods)
    assert isinstance(pods, Pods)
    assert pods.total == PODS
    assert outcome(snapshot, "pods") == "inconsistent"
    assert any("expired" in note for note in snapshot.notes)


def test_a_token_that_expires_during_the_scan_is_unknown_not_half(
    plane: ControlPlane, tmp_path: Path
) -> None:
    counter = itertools.count()
    snapshot = read(
        plane, tmp_path, lambda exchange: answered(exchange, 401) if next(counter) > 2 else None
    )
    assert isinstance(snapshot.fact(Pods), Unknown)


def test_a_server_that_dies_while_it_is_read_is_unknown_not_half(
    binaries: object, tmp_path: Path
) -> None:
    with ControlPlane(components=("etcd", "kube-apiserver")) as doomed:
        client = doomed.client()
        client.apply([shapes.namespace("web"), *shapes.nodes(5)])
        client.apply(pod(number) for number in range(700))

        def fault(exchange: Exchange) -> Broken | None:
            if exchange.path == "/api/v1/pods" and exchange.page == 0:
                doomed.processes["kube-apiserver"].kill()
            return None

        snapshot = read(doomed, tmp_path, fault)
    assert isinstance(snapshot.fact(Pods), Unknown)


def test_a_certificate_of_an_unknown_authority_is_refused(
    plane: ControlPlane, tmp_path: Path
) -> None:
    pair = (plane.folder / "server.crt", plane.folder / "server.key")
    with fault_proxy(
        plane.server, plane.ca_file, USERS["admin"], lambda exchange: None, tls=pair
    ) as proxy:
        url = proxy.url.replace("http:", "https:")
        with pytest.raises(ConnectError, match="authority"):
            connect(options(tmp_path, url))
        source = connect(options(tmp_path, url, certificate_authority=str(plane.ca_file)))
        assert isinstance(collect([Nodes], source, tool="test", taken=TAKEN).fact(Nodes), Nodes)


def judged(plane: ControlPlane, tmp_path: Path, fault: Fault) -> Report:
    with fault_proxy(plane.server, plane.ca_file, USERS["admin"], fault) as proxy:
        source = connect(options(tmp_path, proxy.url))
        snapshot = corridor.read(source, CHECKS, version="test", taken=TAKEN)
    return corridor.judge(
        snapshot, corridor.Request(checks=CHECKS, version="test", target_nodes=5000)
    )


# Faults that are quickly over; the slow ones would be waited for once a kind.
EVERYWHERE = (
    "body cut short",
    "garbage instead of JSON",
    "empty body",
    "empty JSON object",
    "JSON of another kind",
    "login page with status 200",
    "list without items",
    "401 while reading",
    "403",
    "404",
    "500",
    "connection reset before the answer",
)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in EVERYWHERE], ids=lambda case: case.name
)
def test_no_check_turns_good_because_every_list_breaks(
    plane: ControlPlane, tmp_path: Path, case: Case
) -> None:
    def fault(exchange: Exchange) -> Broken | None:
        return case.make(exchange) if exchange.path not in ("/version", "/readyz") else None

    report = judged(plane, tmp_path, fault)
    assert {result.state for result in report.results} == {State.UNKNOWN}
    assert report.score.grade is None


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (lambda e: answered(e, 403) if "selfsubject" not in e.path else None, 0),
        (lambda e: answered(e, 401) if e.path == "/version" else None, 3),
        (lambda e: answered(e, 500) if e.path == "/api/v1/pods" else None, 0),
        (lambda e: Broken(200, {}, b"", wait=20) if e.path == "/api/v1/pods" else None, 3),
    ],
    ids=["all forbidden", "login refused", "a list fails", "out of time"],
)
def test_the_exit_status_tells_a_refusal_from_a_gap(
    plane: ControlPlane, tmp_path: Path, fault: Fault, code: int
) -> None:
    with fault_proxy(plane.server, plane.ca_file, USERS["admin"], fault) as proxy:
        words = ["scan", "--kubeconfig", kubeconfig(tmp_path, proxy.url), "--qps", "0"]
        began = time.monotonic()
        result = subprocess.run(
            [sys.executable, "-m", "kauditor", *words, "--timeout", "5s"],
            capture_output=True,
            text=True,
        )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    assert time.monotonic() - began < 15


def test_the_page_about_faults_is_that_of_the_tests() -> None:
    assert (DOCS / "faults.md").read_text("utf-8") == page(), "docs/faults.md is stale"
