"""The least role, as the command prints it, on a real API server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kauditor import packs
from tests.cluster import shapes
from tests.cluster.client import Client
from tests.cluster.control_plane import ControlPlane
from tests.conftest import ROOT

USER = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "auditor"}


@pytest.fixture(scope="module")
def plane(binaries: object) -> Iterator[ControlPlane]:
    with ControlPlane(components=("etcd", "kube-apiserver")) as started:
        client = started.client()
        client.apply(
            [
                shapes.namespace("team-a"),
                *shapes.control_plane_nodes(1),
                *shapes.nodes(4),
                *shapes.control_plane_pods(1),
                *shapes.coredns(),
                *shapes.kube_proxy(),
                shapes.cluster_autoscaler("--max-nodes-total=50"),
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {"name": "treasure", "namespace": "team-a"},
                    "stringData": {"word": "sesame"},
                },
            ]
        )
        yield started


def kauditor(
    plane: ControlPlane, *words: str, user: str = "auditor"
) -> subprocess.CompletedProcess[str]:
    config = ("--kubeconfig", str(plane.kubeconfig(user)))
    return subprocess.run(
        [sys.executable, "-m", "kauditor", *words, *config],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def bound(plane: ControlPlane) -> Iterator[Client]:
    """The auditor holds just what ``kauditor rbac`` prints."""
    role = yaml.safe_load(kauditor(plane, "rbac").stdout)
    client = plane.client()
    client.apply([role, shapes.binding("kauditor", USER)])
    yield client
    client.delete(shapes.binding("kauditor", USER))


def test_the_printed_role_is_enough(plane: ControlPlane, bound: Client) -> None:
    result = kauditor(plane, "scan", "-q", "--qps", "0", "-o", "json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [row["check"] for row in report["results"] if row["reason"] == "forbidden"] == []
    assert {kind["outcome"] for kind in report["cost"]["kinds"]} <= {"complete", "absent"}
    as_admin = json.loads(
        kauditor(plane, "scan", "-q", "--qps", "0", "-o", "json", user="admin").stdout
    )
    states = [(row["check"], row["subject"], row["state"]) for row in report["results"]]
    assert states == [(row["check"], row["subject"], row["state"]) for row in as_admin["results"]]


def test_the_printed_role_is_no_more_than_enough(plane: ControlPlane, bound: Client) -> None:
    before = len(plane.audit_events("auditor"))
    kauditor(plane, "scan", "-q", "--qps", "0", "-o", "score")
    asked = set()
    for event in plane.audit_events("auditor")[before:]:
        reference = event.get("objectRef") or {}
        if event["verb"] == "create":
            assert reference["resource"].startswith("selfsubject")
        elif reference:
            asked.add((event["verb"], reference.get("apiGroup", ""), reference["resource"]))
        else:
            asked.add((event["verb"], event["requestURI"].partition("?")[0], ""))
        assert reference.get("resource") != "secrets"
    role = yaml.safe_load(kauditor(plane, "rbac").stdout)
    granted = {
        (verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule.get("apiGroups", [])
        for resource in rule.get("resources", [])
    } | {
        (verb, url, "")
        for rule in role["rules"]
        for verb in rule["verbs"]
        for url in rule.get("nonResourceURLs", [])
    }
    assert asked == granted


def test_what_is_missing_is_asked_of_the_server_and_named(
    plane: ControlPlane, bound: Client
) -> None:
    whole = kauditor(plane, "rbac", "--check")
    assert whole.returncode == 0, whole.stdout
    role = yaml.safe_load(kauditor(plane, "rbac").stdout)
    for rule in role["rules"]:
        if "nodes" in rule.get("resources", []):
            rule["resources"].remove("nodes")
    bound.create(role)
    partial = kauditor(plane, "rbac", "--check")
    assert partial.returncode == 1
    assert "NO   list on nodes cluster-wide" in partial.stdout
    assert "1 missing" in partial.stdout


def test_rights_in_one_namespace_give_a_truthful_mostly_unknown_report(
    plane: ControlPlane,
) -> None:
    client = plane.client()
    names = ["pods", "services", "configmaps", "persistentvolumeclaims"]
    client.apply(
        [
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "viewer", "namespace": "team-a"},
                "rules": [{"apiGroups": [""], "resources": names, "verbs": ["get", "list"]}],
            },
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "viewer", "namespace": "team-a"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Role",
                    "name": "viewer",
                },
                "subjects": [USER],
            },
        ]
    )
    for flags in ((), ("-n", "team-a")):
        result = kauditor(plane, "scan", "-q", "--qps", "0", "-o", "json", *flags)
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        states = {row["state"] for row in report["results"]}
        assert "pass" not in states
        assert "fail" not in states
        assert report["score"]["grade"] is None
        assert report["cluster"]["nodes"] is None
        for row in report["results"]:
            assert row["state"] != "unknown" or row["lift"] or row["reason"] == "managed"


def test_a_log_of_all_requests_holds_no_credential(plane: ControlPlane, tmp_path: Path) -> None:
    log = tmp_path / "debug.log"
    result = kauditor(
        plane, "scan", "-q", "--qps", "0", "-o", "score", "--debug", str(log), user="admin"
    )
    assert result.returncode == 0, result.stderr
    text = log.read_text()
    assert "/api/v1/nodes" in text
    assert "admin-token" not in text
    assert "sesame" not in text
    assert log.stat().st_mode & 0o777 == 0o600


def test_every_built_in_check_is_read_with_get_and_list_only(plane: ControlPlane) -> None:
    role = yaml.safe_load(kauditor(plane, "rbac").stdout)
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    assert len(packs.load(installed=False)) >= 40
