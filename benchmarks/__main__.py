"""``make bench``: a scan against a bare read of the same pages, on a real API server.

Writes ``docs/performance.md``. Everything is measured in one run on one machine, so ratios count
and seconds do not. Needs 12 GB of memory at full size; ``--pods 20000`` is a smaller one.
"""

import argparse
import datetime
import http.client
import json
import os
import resource
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from benchmarks.filled import FilledControlPlane
from kauditor import packs
from kauditor import scan as corridor
from kauditor.model.source import Listing
from tests.cluster.control_plane import USERS, ControlPlane

DOCS = Path(__file__).resolve().parent.parent / "docs" / "performance.md"


class Measured(msgspec.Struct, frozen=True):
    """One process: seconds of wall and CPU, peak memory in bytes, and its report where it has one."""

    wall: float
    cpu: float
    peak: int
    report: dict[str, Any]


def paths() -> list[str]:
    """Every list that a scan with all checks reads, each once, cluster-wide ones in place of narrow."""
    listings = {
        question.path
        for question in corridor.questions_of_all(packs.load(installed=False))
        if isinstance(question, Listing) and not question.namespace
    }
    return sorted(listings)


def baseline(plane: ControlPlane) -> tuple[float, int]:
    """One keep-alive TLS connection that reads all pages and throws them away; (seconds, bytes)."""
    parts = urlsplit(plane.server)
    context = ssl.create_default_context(cafile=str(plane.ca_file))
    connection = http.client.HTTPSConnection(str(parts.hostname), parts.port, context=context)
    headers = {
        "Authorization": f"Bearer {USERS['admin']}",
        "Accept": "application/json",
        "User-Agent": "kauditor-benchmark",
    }
    began, size = time.perf_counter(), 0
    for path in paths():
        token = ""
        while True:
            query = f"?limit=500{f'&continue={quote(token)}' if token else ''}"
            connection.request("GET", path + query, headers=headers)
            answer = connection.getresponse()
            head = answer.read(4096)
            size += len(head)
            while piece := answer.read(2**20):
                size += len(piece)
            if answer.status != 200:
                break
            before = head.split(b'"items"')[0]
            token = before.partition(b'"continue":"')[2].partition(b'"')[0].decode()
            if not token:
                break
    return time.perf_counter() - began, size


def scan(plane: ControlPlane, *flags: str) -> Measured:
    """A fresh process that scans and writes JSON and HTML."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [
            sys.executable, "-m", "kauditor", "scan", "--kubeconfig", str(plane.kubeconfig()),
            "-q", "-o", f"json={report}", "-o", f"html={folder}/report.html", *flags,
        ]  # fmt: skip
        began = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=dict(os.environ))
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        if status:
            raise RuntimeError(f"the scan ended with {status}")
        return Measured(
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            peak=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
            report=json.loads(report.read_text()),
        )


def measure(nodes: int, pods: int, services: int, runs: int, paced: bool) -> dict[str, Any]:
    """Everything about one size."""
    began = time.perf_counter()
    with FilledControlPlane(nodes, pods, services) as plane:
        print(f"filled and ready after {time.perf_counter() - began:.0f} s", file=sys.stderr)
        baseline(plane)
        rounds = []
        for number in range(runs):
            bare, size = baseline(plane)
            measured = scan(plane, "--qps", "0")
            rounds.append((bare, measured))
            print(
                f"round {number + 1}: bare {bare:.1f} s, scan {measured.wall:.1f} s, "
                f"CPU {measured.cpu:.1f} s, peak {measured.peak / 2**20:.0f} MiB",
                file=sys.stderr,
            )
        default = scan(plane).wall if paced else 0.0
    report = rounds[-1][1].report
    kinds = {kind["kind"]: kind for kind in report["cost"]["kinds"]}
    assert report["cluster"]["nodes"] == nodes
    assert kinds["pods"]["objects"] == pods
    assert all(kind["outcome"] in ("complete", "absent") for kind in kinds.values())
    return {
        "nodes": nodes,
        "pods": pods,
        "services": services,
        "bytes": size,
        "bare": statistics.median(bare for bare, _ in rounds),
        "wall": statistics.median(one.wall for _, one in rounds),
        "ratio": statistics.median(one.wall / bare for bare, one in rounds),
        "cpu": statistics.median(one.cpu for _, one in rounds),
        "peak": statistics.median(one.peak for _, one in rounds),
        "requests": report["cost"]["requests"],
        "paced": default,
    }


def page(small: dict[str, Any], large: dict[str, Any]) -> str:
    """``docs/performance.md``."""
    slope = (large["peak"] - small["peak"]) / (large["pods"] - small["pods"])

    def row(title: str, form: Any) -> str:
        return f"| {title} | {form(small)} | {form(large)} |"

    rows = [
        row("nodes, services", lambda m: f"{m['nodes']:,}, {m['services']:,}"),
        row("read from the server", lambda m: f"{m['bytes'] / 1e6:,.0f} MB"),
        row("bare read of the same pages", lambda m: f"{m['bare']:.1f} s"),
        row("scan, not paced", lambda m: f"{m['wall']:.1f} s"),
        row("**ratio**, median of the rounds", lambda m: f"**{m['ratio']:.2f}**"),
        row("scan at the default pace", lambda m: f"{m['paced']:.0f} s" if m["paced"] else "–"),
        row("CPU of the scan", lambda m: f"{m['cpu']:.1f} s"),
        row("peak memory", lambda m: f"{m['peak'] / 2**20:.0f} MiB"),
        row("requests", lambda m: f"{m['requests']:,}"),
    ]
    cores, memory = os.cpu_count(), resource.getpagesize() * os.sysconf("SC_PHYS_PAGES") / 2**30
    taken = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        "# Performance\n\n"
        f"Written by `make bench` on {taken}, {cores} cores, {memory:.0f} GiB. The server is a "
        "real API server over a\nfilled etcd, on the same machine. The bare read is one keep-alive "
        "TLS connection that asks for the\nsame pages and throws them away; the scan is a fresh "
        "process that also writes JSON and HTML.\nRatios of one run count, seconds do not.\n\n"
        f"| | {small['pods']:,} pods | {large['pods']:,} pods |\n| --- | --- | --- |\n"
        + "\n".join(rows)
        + f"\n\nMemory grows by **{slope:,.0f} bytes a pod** between the two sizes.\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--services", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    smaller = measure(700, 20_000, 1_300, given.runs, paced=False)
    larger = measure(given.nodes, given.pods, given.services, given.runs, paced=True)
    DOCS.write_text(page(smaller, larger), "utf-8")
    print(DOCS.read_text("utf-8"))
