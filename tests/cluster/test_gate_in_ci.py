"""A run of CI played against the real control plane: baseline, a change for the worse, a waiver."""

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import shapes
from tests.cluster.client import Client, wait_until
from tests.cluster.control_plane import ControlPlane
from tests.cluster.planted import ready_nodes, running
from tests.conftest import ROOT

WORKERS = 7
SETTINGS = '[cluster."kauditor-test"]\ntarget-nodes = 40\n'
# Both lie below the target: the first is the finding that the team lives with.
CAP, LOWERED = 35, 20


def cap(client: Client, nodes: int) -> None:
    """Give the autoscaler this ceiling."""
    client.apply([shapes.cluster_autoscaler(f"--max-nodes-total={nodes}")])


@pytest.fixture(scope="module")
def cluster(binaries: Path) -> Iterator[ControlPlane]:
    """Ten nodes, on a server of its own: a baseline bears no neighbours."""
    with ControlPlane() as plane:
        client = plane.client()
        client.apply([*shapes.control_plane(), *shapes.nodes(WORKERS), *shapes.coredns(replicas=3)])
        cap(client, CAP)
        wait_until(lambda: ready_nodes(client) == WORKERS + 3, 120, "ten nodes Ready")
        wait_until(lambda: running(client) >= 12 + 3 + 1, 120, "16 pods Running")
        yield plane


class Pipeline:
    """A checkout with settings in it, and the steps of a job."""

    def __init__(self, folder: Path, plane: ControlPlane) -> None:
        self.folder = folder
        self.plane = plane
        (folder / ".git").mkdir()
        self.settings()

    def settings(self, waived_until: datetime.date | None = None) -> None:
        waiver = (
            f'[[waiver]]\ncheck = "max-nodes-below-target"\nuntil = {waived_until}\n'
            'reason = "The quota is raised next month"\nowner = "platform@example.com"\n'
        )
        text = SETTINGS + (waiver if waived_until else "")
        (self.folder / "kauditor.toml").write_text(text)

    def step(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of the job, as a shell would run it."""
        offline = "--from" in words or words[0] in ("gate", "diff")
        live = () if offline else self.connection
        return subprocess.run(
            [sys.executable, "-m", "kauditor", *words, *live],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=120,
        )

    @property
    def connection(self) -> tuple[str, ...]:
        return ("--kubeconfig", str(self.plane.kubeconfig()), "--qps", "0")

    def gated(self, *more: str) -> subprocess.CompletedProcess[str]:
        """The job's main step: scan, leave a report and a summary, hold it to the baseline."""
        return self.step(
            "scan", *more, "--baseline", "baseline.json", "--fail-on-worse",
            "-o", "json=report.json", "-o", "markdown=summary.md", "-o", "score",
        )  # fmt: skip

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text()


def test_a_gate_in_ci_from_the_baseline_to_the_end_of_a_waiver(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    job = Pipeline(tmp_path, cluster)
    today = datetime.datetime.now(datetime.UTC).date()

    first = job.step("scan", "-o", "json=baseline.json")
    assert first.returncode == 0, first.stderr
    limits = json.loads((tmp_path / "baseline.json").read_text())["limits"]
    assert [one["nodes"] for one in limits if one["check"] == "AS002"] == [CAP]

    same = job.gated()
    assert same.returncode == 0, same.stderr
    assert "GATE PASSED" in same.stderr
    assert "### Gate passed" in job.summary

    cap(cluster.client(), LOWERED)
    worse = job.gated()
    assert worse.returncode == 1, worse.stderr
    assert "GATE FAILED" in worse.stderr
    why = f"from {CAP} to {LOWERED} nodes"
    assert "AS002" in worse.stderr
    assert why in worse.stderr
    assert "### Gate failed" in job.summary
    assert "fail-on-worse" in job.summary
    assert "AS002" in job.summary
    assert why in job.summary

    told = job.step("diff", "baseline.json", "report.json")
    assert f"{CAP} -> {LOWERED} nodes" in told.stdout, told.stderr
    again = job.step("gate", "report.json", "--baseline", "baseline.json", "--fail-on-worse")
    assert (again.returncode, why in again.stdout) == (1, True), again.stderr

    until = today + datetime.timedelta(days=30)
    job.settings(waived_until=until)
    waived = job.gated()
    assert waived.returncode == 0, waived.stderr
    rows = json.loads((tmp_path / "report.json").read_text())["results"]
    (row,) = [one for one in rows if one["check"] == "AS002"]
    assert (row["state"], row["waived"]["until"]) == ("waived", until.isoformat())
    assert job.gated("--no-waivers").returncode == 1

    # The same cluster, read on the last day of the waiver and on the day it ends.
    assert job.step("collect", "-o", "snapshot.json").returncode == 0
    snapshot = json.loads((tmp_path / "snapshot.json").read_text())
    for days, status in ((-1, 0), (0, 1)):
        day = until + datetime.timedelta(days=days)
        snapshot["taken"] = f"{day}T08:00:00Z"
        (tmp_path / "then.json").write_text(json.dumps(snapshot))
        then = job.gated("--from", "then.json")
        assert then.returncode == status, f"{day}: {then.stderr}"
    assert f"ended on {until}; what it accepted counts again" in then.stderr
    assert why in job.summary

    cap(cluster.client(), CAP)
    mended = job.gated()
    assert mended.returncode == 0, mended.stderr
