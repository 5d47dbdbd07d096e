"""The demo snapshot is what the test control plane gives, and it has something in every area."""

from typing import Any

import msgspec

from kauditor import packs
from kauditor import scan as corridor
from kauditor.demo import demo_snapshot
from kauditor.model.check import Area
from kauditor.model.finding import State
from kauditor.model.snapshot import Snapshot
from tests.cluster import demo

# How full etcd's file is differs from run to run; by more than half it would be another cluster.
SIZE = "etcd-quota-bytes"
# Where the scheduler put pods differs too; what these checks decide does not.
# What VOLATILE say rests on sizes and on Events, which come and go as they please.
PLACED = frozenset({"NODE001", "NODE002", "DNS005"})
VOLATILE = frozenset({"ETCD002", "ETCD021", "API017"})


def told(snapshot: Snapshot) -> tuple[dict[str, Any], list[float]]:
    """The report without times and sizes, and the sizes."""
    checks = tuple(packs.load(installed=False))
    report = corridor.judge(snapshot, corridor.Request(checks=checks, version="test"))
    document = msgspec.to_builtins(report)
    for name in ("taken", "cost"):
        del document[name]
    sizes = [limit["used"] for limit in document["limits"] if limit["dimension"] == SIZE]
    titles = {one["title"] for one in document["limits"] if one["check"] in VOLATILE}
    document["limits"] = [one for one in document["limits"] if one["check"] not in VOLATILE]
    document["results"] = [
        {**one, "evidence": [], "summary": ""} if one["check"] in PLACED else one
        for one in document["results"]
        if one["check"] not in VOLATILE
    ]
    # A pod more or less under load moves sentences, loads and far limits by a hair.
    for one in document["results"]:
        one.update(summary="", evidence=[], nodes=_rounded(one["nodes"]))
    for one in document["limits"]:
        nodes = {name: _rounded(one[name]) for name in ("nodes", "low", "high")}
        one.update(nodes, used=0, limit=0, points=0)
    document["areas"] = [{**one, "first_limit": 0} for one in document["areas"]]
    document["path"] = [
        {**one, "after": 0} if one["then"] in titles else one for one in document["path"]
    ]
    return document, sizes


def _rounded(nodes: int | None) -> int | None:
    # Limits within reach are exact; beyond ten thousand nodes, thousands will do.
    return nodes if nodes is None or nodes < 10_000 else round(nodes, -4)


def test_recorded_again_it_tells_the_same(binaries: None) -> None:
    held, held_sizes = told(demo_snapshot())
    again, sizes = told(demo.record())
    assert again == held
    assert len(sizes) == len(held_sizes)
    assert all(0.5 < new / old < 2 for new, old in zip(sizes, held_sizes, strict=True))


def test_every_area_that_has_checks_has_a_finding() -> None:
    checks = tuple(packs.load(installed=False))
    report = corridor.judge(demo_snapshot(), corridor.Request(checks=checks, version="test"))
    found = {one.area for one in report.results if one.state in (State.FAIL, State.WARN)}
    assert found == {check.area for check in checks}
    assert len(found) >= 6
    assert Area.NETWORK in found
