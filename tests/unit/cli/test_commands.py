"""The command line as a user meets it: exit statuses, sentences, files."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kauditor.model.report import Report
from tests.conftest import ROOT
from tests.unit.sources.door import Reply, door, page, status
from tests.unit.sources.test_live import closed_port, kubeconfig

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}


def run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kauditor", *words],
        cwd=folder,
        env={**ENVIRONMENT, "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The one line of complaint; a traceback or a second line fails."""
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("kauditor: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_the_demo_is_audited_and_exits_zero(tmp_path: Path) -> None:
    result = run("scan", "--demo", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "run out first" in result.stdout or "runs out first" in result.stdout
    assert result.stderr == ""


def test_several_outputs_are_written_for_their_owner_only(tmp_path: Path) -> None:
    result = run(
        "scan", "--demo", "-o", "json=r.json", "-o", "html=r.html", "-o", "markdown=r.md",
        "-o", "score", folder=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip().isdigit()
    for name in ("r.json", "r.html", "r.md"):
        file = tmp_path / name
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.stat().st_size > 1000
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "kauditor.report/v1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r.md"]


def test_the_json_report_holds_the_public_contract(tmp_path: Path) -> None:
    document = json.loads(run("scan", "--demo", "-o", "json", folder=tmp_path).stdout)
    contract = {
        "cluster": "name context server uid version provider nodes pods",
        "target": "nodes source",
        "score": "value low high grade coverage",
    }
    for key, fields in contract.items():
        assert set(fields.split()) <= set(document[key])
    assert {"schema", "tool", "headline", "cost", "gate", "path"} <= set(document)
    rows = {
        "areas": "id score low high",
        "limits": "check dimension subject nodes low high kind confidence used limit unit",
        "results": "check name area severity state reason subject summary evidence references fix",
    }
    for key, fields in rows.items():
        assert all(set(fields.split()) <= set(row) for row in document[key])
    nodes = [row["nodes"] for row in document["limits"]]
    known = [one for one in nodes if one is not None]
    assert nodes == sorted(known) + [None] * (len(nodes) - len(known))
    assert all(isinstance(one, int) for one in known)
    assert set(Report.__struct_fields__) == set(document)


@pytest.mark.parametrize(
    ("gate", "code", "says"),
    [
        (("--min-limit", "600"), 0, "GATE PASSED"),
        (("--min-limit", "1200"), 1, "GATE FAILED"),
        (("--fail-on", "critical"), 1, "GATE FAILED"),
        (("--min-score", "0"), 0, "GATE PASSED"),
        (("--min-score", "99"), 1, "GATE FAILED"),
    ],
)
def test_a_gate_decides_the_exit_status_and_says_why(
    tmp_path: Path, gate: tuple[str, ...], code: int, says: str
) -> None:
    result = run("scan", "--demo", *gate, folder=tmp_path)
    assert (result.returncode, says in result.stderr) == (code, True), result.stderr


def test_a_replayed_snapshot_gives_the_same_bytes(tmp_path: Path) -> None:
    snapshot = str(ROOT / "kauditor" / "data" / "demo-snapshot.json")
    demo = run("scan", "--demo", "-o", "json", folder=tmp_path).stdout
    assert run("scan", "--from", snapshot, "-o", "json", folder=tmp_path).stdout == demo


BAD: list[tuple[tuple[str, ...], int, str]] = [
    (("scan", "--demo", "-o", "pdf"), 2, "no format 'pdf'"),
    (("scan", "--demo", "-o", "htm=x"), 2, "did you mean html?"),
    (("scan", "--demo", "-o", "html=missing/r.html"), 2, "no folder"),
    (("scan", "--demo", "-o", "html=."), 2, "folder"),
    (("scan", "--demo", "-o", "text", "-o", "json"), 2, "only one report can go to stdout"),
    (("scan", "--demo", "--only", "NOPE1"), 2, "no check has this id"),
    (("scan", "--demo", "--only", "ADDR001", "--skip", "network"), 2, "leave no check"),
    (("scan", "--demo", "--checks", "missing"), 2, "no such folder"),
    (("scan", "--demo", "--config", "missing.toml"), 2, "missing.toml"),
    (("scan", "--demo", "--color", "pink"), 2, "--color pink"),
    (("scan", "--demo", "--fail-on", "awful"), 2, "--fail-on awful"),
    (("scan", "--from", "missing.json"), 2, "missing.json"),
    (("scan", "--kubeconfig", "missing"), 2, "no such file"),
    (("scan",), 2, "no kubeconfig was found"),
    (("scan", "--request-timeout", "soon"), 2, "--request-timeout soon"),
    (("scan", "-n", "a", "-A"), 2, "contradict"),
    (("collect", "-o", "missing/s.json"), 2, "no folder"),
]


@pytest.mark.parametrize(("words", "code", "says"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_gets_one_sentence_and_its_exit_status(
    tmp_path: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    result = run(*words, folder=tmp_path)
    assert result.returncode == code, result.stderr
    assert says in sentence(result)
    assert result.stdout == ""


def test_an_unknown_flag_exits_two(tmp_path: Path) -> None:
    result = run("scan", "--no-such-flag", folder=tmp_path)
    assert result.returncode == 2
    assert "no-such-flag" in result.stderr


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "kauditor.snapshot/v1"}', "\x00"])
def test_a_broken_snapshot_exits_two(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    result = run("scan", "--from", "s.json", folder=tmp_path)
    assert result.returncode == 2
    assert "s.json" in sentence(result)


def test_a_wrong_context_lists_those_that_are_there(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, "https://127.0.0.1:1")
    result = run("scan", "--kubeconfig", config, "--context", "nope", folder=tmp_path)
    assert result.returncode == 2
    assert "here" in sentence(result)


def test_an_option_that_a_check_does_not_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kauditor.toml").write_text("[checks.SCHED001]\nwarn-from = 1\n")
    result = run("scan", "--demo", folder=tmp_path)
    assert result.returncode == 2
    assert "warn-from-nodes" in sentence(result)


def test_settings_of_the_cluster_set_target_and_gate(tmp_path: Path) -> None:
    (tmp_path / "kauditor.toml").write_text(
        "[cluster.demo]\ntarget-nodes = 5000\n[cluster.demo.gate]\nmin-limit = 5000\n"
    )
    result = run("scan", "--demo", "-o", "json", folder=tmp_path)
    assert result.returncode == 1
    assert json.loads(result.stdout)["target"] == {"nodes": 5000, "source": "kauditor.toml"}
    flag = run("scan", "--demo", "-o", "json", "--target-nodes", "700", folder=tmp_path)
    assert json.loads(flag.stdout)["target"] == {"nodes": 700, "source": "--target-nodes"}


def test_an_unreachable_server_exits_three(tmp_path: Path) -> None:
    config = kubeconfig(tmp_path, closed_port())
    result = run("scan", "--kubeconfig", config, folder=tmp_path)
    assert result.returncode == 3
    assert "refused" in sentence(result)


def test_refused_credentials_exit_three(tmp_path: Path) -> None:
    with door(lambda asked: status(401)) as server:
        server.script = lambda asked: status(401)
        config = kubeconfig(tmp_path, server.url)
        result = run("scan", "--kubeconfig", config, folder=tmp_path)
    assert result.returncode == 3
    assert "401" in sentence(result)
    assert "very-secret" not in result.stderr + result.stdout


def test_a_deadline_prints_what_there_is_and_exits_three(tmp_path: Path) -> None:
    def script(asked: Any) -> Reply:
        return Reply(body={}, wait=30 if asked.path.endswith("/pods") else 0)

    with door(script) as server:
        config = kubeconfig(tmp_path, server.url)
        result = run(
            "scan", "--kubeconfig", config, "--timeout", "2s", "--qps", "0", folder=tmp_path
        )
    assert result.returncode == 3
    assert "partial" in result.stderr
    assert "No limit could be decided" in result.stdout


def test_all_forbidden_is_reported_not_refused(tmp_path: Path) -> None:
    with door(lambda asked: status(403)) as server:
        config = kubeconfig(tmp_path, server.url)
        words = ("scan", "--kubeconfig", config, "--qps", "0")
        report = json.loads(run(*words, "-q", "-o", "json", folder=tmp_path).stdout)
        gated = run(*words, "--min-score", "1", folder=tmp_path)
        free = run(*words, folder=tmp_path)
    assert {row["state"] for row in report["results"]} == {"unknown"}
    assert {row["reason"] for row in report["results"]} == {"forbidden"}
    assert report["score"]["grade"] is None
    assert (gated.returncode, free.returncode) == (4, 0)


def test_collect_and_scan_from_give_what_scan_gives(tmp_path: Path) -> None:
    nodes = {"metadata": {}, "items": [{"metadata": {"name": f"n{n}"}} for n in range(3)]}

    def script(asked: Any) -> Reply:
        if asked.path.endswith("/nodes"):
            return Reply(body=nodes)
        return page(range(2)) if asked.path.endswith("/pods") else status(403)

    with door(script) as server:
        config = kubeconfig(tmp_path, server.url)
        words = ("--kubeconfig", config, "--qps", "0", "-q")
        live = json.loads(run("scan", *words, "-o", "json", folder=tmp_path).stdout)
        collected = run("collect", *words, "-o", "s.json", folder=tmp_path)
    assert collected.returncode == 0, collected.stderr
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600
    assert "very-secret" not in (tmp_path / "s.json").read_text()
    again = json.loads(run("scan", "--from", "s.json", "-o", "json", folder=tmp_path).stdout)
    for report in (live, again):
        del report["taken"], report["cost"]
    assert live == again


def test_ctrl_c_ends_within_a_second_with_130(tmp_path: Path) -> None:
    def script(asked: Any) -> Reply:
        return Reply(body={}, wait=30)

    with door(script) as server:
        config = kubeconfig(tmp_path, server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "kauditor", "scan", "--kubeconfig", config],
            cwd=tmp_path,
            env={**ENVIRONMENT, "HOME": str(tmp_path)},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A test run in the background ignores SIGINT, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        deadline = time.monotonic() + 20
        while not server.lists() and time.monotonic() < deadline:
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert time.monotonic() - began < 1
    assert b"Traceback" not in errors


def imported(*words: str) -> set[str]:
    code = (
        "import sys\nsys.argv = ['kauditor', *sys.argv[1:]]\nfrom kauditor.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *words], env=ENVIRONMENT, capture_output=True, text=True
    )
    return set(result.stderr.split())


def test_help_imports_neither_the_cluster_client_nor_templates() -> None:
    heavy = {"kubernetes", "jinja2", "rich", "pydantic", "urllib3", "msgspec", "yaml"}
    assert not imported("--help") & heavy


def test_the_version_is_answered_before_anything_is_imported() -> None:
    assert "typer" not in imported("--version")


def test_a_replay_does_not_import_the_cluster_client() -> None:
    assert not imported("scan", "--demo") & {"kubernetes", "urllib3", "jinja2"}


def test_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    result = subprocess.run(
        f"{sys.executable} -m kauditor scan --demo -o json | head -c 10",
        shell=True, cwd=tmp_path, env={**ENVIRONMENT, "HOME": str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in result.stderr
    assert "Error" not in result.stderr


def test_a_terminal_without_unicode_gets_ascii(tmp_path: Path) -> None:
    result = run("scan", "--demo", folder=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert result.returncode == 0, result.stderr
    assert result.stdout.isascii()
