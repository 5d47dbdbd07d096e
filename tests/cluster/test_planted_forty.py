"""Planted clusters, written from the catalog alone: every fault is found, no look-alike is named."""

import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from kauditor import packs
from kauditor import scan as corridor
from kauditor.gate import Policy
from kauditor.model.fact import Why
from kauditor.model.finding import State
from kauditor.model.report import Report
from kauditor.model.result import Result
from kauditor.sources.live.connection import ConnectOptions, connect
from tests.cluster.control_plane import ControlPlane
from tests.cluster.planted_forty import loading

TAKEN = "2026-01-01T00:00:00Z"
TARGET = 5000
TOLERANCE = 0.03
BAD = (State.FAIL, State.WARN)
CHECKS = tuple(packs.load(installed=False))
IDS = {check.id for check in CHECKS}
VARIANTS = loading.variants()
EXPECTED = loading.toml("expected.toml")
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("KAUDITOR_TEST_OLDER")), reason="its kubelets' versions go with 1.37"
)
Entry = dict[str, Any]
Scan = Callable[[str], Report]


@pytest.fixture(scope="module")
def scanned(binaries: None) -> Scan:
    """The report on a variant; each is loaded and scanned once, by the first test that asks."""

    @cache
    def scan(variant: str) -> Report:
        wanted = VARIANTS[variant]
        with ControlPlane(
            components=("etcd", "kube-apiserver"), api_flags=loading.api_flags(wanted)
        ) as plane:
            loading.load(plane.client(), loading.objects(wanted))
            source = connect(
                ConnectOptions(kubeconfig=str(plane.kubeconfig()), qps=0, max_inflight=2)
            )
            snapshot = corridor.read(source, CHECKS, version="test", taken=TAKEN)
        return corridor.judge(
            snapshot,
            corridor.Request(checks=CHECKS, version="test", target_nodes=TARGET, policy=Policy()),
        )

    return scan


def entries(kind: str) -> list[Any]:
    """The entries of a kind as parameters, named by variant and by what they are about."""
    found = []
    for entry in EXPECTED.get(kind, []):
        # The plan holds faults of checks that do not exist yet; they count from the day they do.
        if kind == "fault" and not {entry["check"], *entry.get("any_of", [])} & IDS:
            continue
        words = [entry.get("variant", "main"), entry.get("check"), entry.get("name")]
        words.append(entry.get("subject") or ("" if kind != "fault" else "any"))
        found.append(pytest.param(entry, id="-".join(word for word in words if word)))
    return found


def bad(report: Report, checks: set[str] | None = None) -> list[Result]:
    return [
        result
        for result in report.results
        if result.state in BAD and (checks is None or result.check in checks)
    ]


def spoken(result: Result) -> str:
    """A result as a failed assertion shows it."""
    nodes = f" [{result.nodes} nodes]" if result.nodes else ""
    return f"{result.check} {result.state} {result.severity} {result.subject!r}: {result.summary}{nodes}"


def shown(result: Result) -> str:
    """All that a result says, its evidence too."""
    rows = " ".join(f"{row.what} {row.value}" for row in result.evidence)
    return f"{result.subject} {result.summary} {rows}"


def plain(text: str) -> str:
    """Without thousands separators, in lower case, small numbers in figures."""
    figures = re.sub(r"(?<=\d),(?=\d{3})", "", text).lower()
    for number, word in enumerate(("one", "two", "three", "four", "five"), 1):
        figures = re.sub(rf"\b{word}\b", str(number), figures)
    return figures


def holds(text: str, figure: str) -> bool:
    """Whether a figure stands in a text, and not within another number."""
    return bool(re.search(rf"(?<![\d.]){re.escape(figure.lower())}(?!\d|\.\d)", plain(text)))


def complaints(entry: Entry, result: Result, report: Report) -> list[str]:
    """What a result lacks of what an entry asks for."""
    lacks = []
    allowed = entry.get("states", ["fail", "warn"])
    if result.state.value not in allowed:
        lacks.append(f"is {result.state}, not {' or '.join(allowed)}")
    if plain(entry.get("subject", "")) not in plain(f"{result.subject} {result.summary}"):
        lacks.append(f"does not name {entry['subject']}")
    if plain(entry.get("shown", "")) not in plain(shown(result)):
        lacks.append(f"does not show {entry['shown']}")
    if "figure" in entry and not holds(result.summary, entry["figure"]):
        lacks.append(f"does not say {entry['figure']}")
    if "severity" in entry and result.severity.value != entry["severity"]:
        lacks.append(f"is {result.severity}, not {entry['severity']}")
    if "nodes" in entry:
        ends = [
            limit.nodes
            for limit in report.limits
            if limit.check == result.check and limit.subject == result.subject and limit.nodes
        ] + [result.nodes or 0]
        off = entry.get("tolerance", TOLERANCE) * entry["nodes"]
        if not any(abs(end - entry["nodes"]) <= off for end in ends):
            lacks.append(f"ends at {ends} nodes, not at {entry['nodes']}")
    return lacks


@pytest.mark.parametrize("entry", entries("fault"))
def test_a_planted_fault_is_found(scanned: Scan, entry: Entry) -> None:
    checks = {entry["check"], *entry.get("any_of", [])}
    report = scanned(entry.get("variant", "main"))
    about = [result for result in report.results if result.check in checks]
    lacking = {spoken(result): complaints(entry, result, report) for result in about}
    found = any(not lacks for lacks in lacking.values())
    if entry.get("disputed"):
        assert not found, f"is found now; no longer disputed: {entry['disputed']}"
        pytest.xfail(entry["disputed"])
    told = "\n".join(f"{text} — {'; '.join(lacks)}" for text, lacks in lacking.items())
    assert found, told or "no result at all"


@pytest.mark.parametrize("entry", entries("lookalike"))
def test_a_lookalike_is_not_reported(scanned: Scan, entry: Entry) -> None:
    checks = set(entry["checks"]) if "checks" in entry else None
    name = re.compile(
        rf"(?<![\w.-]){re.escape(entry['name'])}" + r"(?![\w.-]*[\w-])" * (entry["name"][-1] != "-")
    )
    named = [
        spoken(result)
        for result in bad(scanned(entry.get("variant", "main")), checks)
        if name.search(result.subject) or name.search(result.summary)
    ]
    if entry.get("disputed"):
        assert named, f"is not reported any more; no longer disputed: {entry['disputed']}"
        pytest.xfail(entry["disputed"])
    assert not named, "\n".join(named)


@pytest.mark.parametrize("entry", entries("quiet"))
def test_a_check_has_nothing_to_say(scanned: Scan, entry: Entry) -> None:
    said = [spoken(one) for one in bad(scanned(entry.get("variant", "main")), {entry["check"]})]
    if entry.get("disputed"):
        assert said, f"is quiet now; no longer disputed: {entry['disputed']}"
        pytest.xfail(entry["disputed"])
    assert not said, f"{entry['why']}:\n" + "\n".join(said)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_no_check_breaks_and_all_is_read(scanned: Scan, variant: str) -> None:
    report = scanned(variant)
    assert report.cluster.nodes == len(loading.node_names(VARIANTS[variant]))
    assert [spoken(r) for r in report.results if r.reason is Why.BROKEN] == []
    assert [k for k in report.cost.kinds if k.outcome not in ("complete", "absent")] == []


def test_every_name_of_the_index_is_in_a_file() -> None:
    for variant in VARIANTS.values():
        assert loading.objects(variant)
