"""A scan of the real control plane: planted faults, their cures, denied rights, what was asked."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kauditor import packs
from kauditor import scan as corridor
from kauditor.gate import Policy
from kauditor.model.fact import Why
from kauditor.model.finding import State
from kauditor.model.report import Report
from kauditor.model.snapshot import decode, encode
from kauditor.model.source import Listing
from kauditor.sources.live.connection import ConnectOptions, connect
from kauditor.testing import questions_of
from tests.cluster import planted, shapes
from tests.cluster.client import Client
from tests.cluster.control_plane import ControlPlane

TAKEN = "2026-01-01T00:00:00Z"
CHECKS = tuple(packs.load(installed=False))
BAD = (State.FAIL, State.WARN)


@pytest.fixture(scope="module")
def cluster(binaries: None) -> Iterator[ControlPlane]:
    with ControlPlane() as plane:
        planted.plant(plane.client())
        yield plane


def audited(
    plane: ControlPlane, user: str = "admin", only: tuple[str, ...] = (), target: int = 1500
) -> Report:
    checks = tuple(packs.choose(CHECKS, only))
    source = connect(
        ConnectOptions(
            kubeconfig=str(plane.kubeconfig(user)),
            user_agent="kauditor/test",
            qps=0,
            max_inflight=2,
        )
    )
    snapshot = corridor.read(source, checks, version="test", taken=TAKEN)
    return corridor.judge(
        snapshot,
        corridor.Request(checks=checks, version="test", target_nodes=target, policy=Policy()),
    )


def states(report: Report) -> dict[str, set[State]]:
    found: dict[str, set[State]] = {}
    for result in report.results:
        found.setdefault(result.check, set()).add(result.state)
    return found


def test_two_hundred_nodes_are_ready_and_so_are_the_endpoints(cluster: ControlPlane) -> None:
    client = cluster.client()
    assert planted.ready_nodes(client) == 200
    assert planted.ready_endpoints(client, "web", "web") == 400


def test_every_planted_fault_is_found(cluster: ControlPlane) -> None:
    report = audited(cluster)
    found = states(report)
    assert report.cluster.nodes == 200
    for check in planted.cures():
        assert found[check] & set(BAD), f"{check}: {found[check]}"
    assert all(kind.outcome in ("complete", "absent") for kind in report.cost.kinds)


def test_the_numbers_are_those_of_the_planted_cluster(cluster: ControlPlane) -> None:
    limits = {limit.check: limit.nodes for limit in audited(cluster).limits if limit.nodes}
    assert limits["ADDR001"] == 256
    assert limits["AS002"] == 250
    assert limits["CNI003"] == 50
    # Two replicas at 256 cores each, 32 cores a node (the control plane's have 16).
    assert limits["DNS001"] == 16


@pytest.fixture
def auditor(cluster: ControlPlane) -> Iterator[Client]:
    """The auditor holds a role of every right the checks need; gone afterwards."""
    client = cluster.client()
    client.apply([shapes.cluster_role("auditor", rules(CHECKS)), shapes.binding("auditor", USER)])
    yield client
    client.delete(shapes.binding("auditor", USER))


USER = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "auditor"}


def rules(checks: tuple[Any, ...], without: str = "") -> list[dict[str, Any]]:
    questions = {str(q): q for check in checks for q in questions_of(check)}
    made: list[dict[str, Any]] = [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["namespaces"]},
        {"verbs": ["get"], "nonResourceURLs": ["/version", "/readyz"]},
        {"verbs": ["list"], "apiGroups": [""], "resources": ["nodes"]},
    ]
    for question in questions.values():
        grant = question.grant
        if (grant.resource or grant.path) == without:
            continue
        if grant.path:
            made.append({"verbs": list(grant.verbs), "nonResourceURLs": [grant.path]})
        else:
            made.append(
                {
                    "verbs": list(grant.verbs),
                    "apiGroups": [grant.group],
                    "resources": [grant.resource],
                }
            )
    return made


def test_with_the_derived_rights_nothing_is_forbidden(
    cluster: ControlPlane, auditor: Client
) -> None:
    report = audited(cluster, "auditor")
    assert report.cluster.identity == "auditor"
    assert [r.check for r in report.results if r.reason is Why.FORBIDDEN] == []
    assert all(kind.outcome in ("complete", "absent") for kind in report.cost.kinds)
    assert states(report) == states(audited(cluster))


@pytest.mark.parametrize(
    "resource",
    sorted(
        {
            question.resource
            for check in CHECKS
            for question in questions_of(check)
            if isinstance(question, Listing) and question.resource != "nodes"
        }
        | {"/metrics"}
    ),
)
def test_a_right_taken_away_turns_its_checks_unknown_and_none_better(
    cluster: ControlPlane, auditor: Client, resource: str
) -> None:
    before = audited(cluster)
    auditor.create(shapes.cluster_role("auditor", rules(CHECKS, without=resource)))
    after = audited(cluster, "auditor")
    denied = [kind.kind for kind in after.cost.kinds if kind.outcome == "forbidden"]
    assert denied == [resource]
    known = {(r.check, r.subject): r.state for r in before.results}
    for result in after.results:
        was = known.get((result.check, result.subject))
        if result.reason is Why.FORBIDDEN:
            assert resource in result.lift + result.grant + result.summary
        elif result.state in (State.PASS, State.NOT_APPLICABLE):
            assert was not in BAD, f"{result.check} {result.subject} was {was}, is {result.state}"
        else:
            assert not any(resource in row.source.split() for row in result.evidence)
    now = states(after)
    for check, found in states(before).items():
        if found & set(BAD):
            assert now[check] & {*BAD, State.UNKNOWN}, f"{check} was {found}, is {now[check]}"


def test_without_any_right_all_is_unknown_and_there_is_no_grade(cluster: ControlPlane) -> None:
    report = audited(cluster, "nobody")
    assert {state for found in states(report).values() for state in found} == {State.UNKNOWN}
    assert (report.score.value, report.score.grade, report.score.coverage) == (None, None, 0)
    assert report.headline.startswith("No limit could be decided")


def test_a_scan_asks_for_nothing_but_get_list_and_reviews_of_itself(
    cluster: ControlPlane, auditor: Client
) -> None:
    before = len(cluster.audit_events())
    audited(cluster, "auditor")
    asked = [one for one in cluster.audit_events()[before:] if one["user"]["username"] == "auditor"]
    assert asked
    for event in asked:
        assert event["userAgent"] == "kauditor/test"
        if event["verb"] == "create":
            assert event["objectRef"]["resource"].startswith("selfsubject")
        else:
            assert event["verb"] in ("get", "list")
        assert event.get("objectRef", {}).get("resource") != "secrets"
        assert "resourceVersion" not in event["requestURI"]


def test_a_kind_is_read_only_where_a_chosen_check_asks_for_it(cluster: ControlPlane) -> None:
    kinds = {kind.kind for kind in audited(cluster, only=("AS006",)).cost.kinds}
    assert "pods" not in kinds
    assert "deployments" in kinds


def test_a_replayed_snapshot_gives_the_same_report(cluster: ControlPlane) -> None:
    source = connect(ConnectOptions(kubeconfig=str(cluster.kubeconfig()), qps=0))
    snapshot = corridor.read(source, CHECKS, version="test", taken=TAKEN)
    request = corridor.Request(checks=CHECKS, version="test", target_nodes=1500)
    live = msgspec.json.encode(corridor.judge(snapshot, request))
    saved = encode(snapshot)
    assert msgspec.json.encode(corridor.judge(decode(saved), request)) == live
    assert encode(decode(saved)) == saved


def test_a_snapshot_holds_no_token_and_no_environment_value(cluster: ControlPlane) -> None:
    source = connect(ConnectOptions(kubeconfig=str(cluster.kubeconfig()), qps=0))
    text = encode(corridor.read(source, CHECKS, version="test", taken=TAKEN)).decode()
    assert "admin-token" not in text
    assert "CALICO_IPV4POOL_CIDR" not in text
    json.loads(text)


def test_each_cure_removes_its_finding(cluster: ControlPlane) -> None:
    client = cluster.client()
    for check, cure in planted.cures().items():
        assert states(audited(cluster, only=(check,)))[check] & set(BAD), f"{check} was not bad"
        cure(client)
        left = states(audited(cluster, only=(check,)))[check]
        assert not left & {*BAD, State.UNKNOWN}, f"{check} is still {left}"
