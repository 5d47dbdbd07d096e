"""config and completion; where settings come from, as a user meets it."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from kauditor.model.report import Report
from kauditor.settings import load
from tests.conftest import ROOT
from tests.unit.cli.invoke import Shell


def shown(shell: Shell, *words: str) -> dict[str, tuple[Any, str]]:
    assert shell("config", "show", "-o", "json", *words) == 0, shell.err
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(shell.out)}


def test_a_first_file_is_made_and_never_written_over(shell: Shell) -> None:
    assert shell("config", "init") == 0
    assert shell("config", "validate") == 0, shell.err
    assert "there already" in shell.refusal("config", "init")
    assert "No such file" in shell.refusal("config", "init", "no/kauditor.toml")


def test_every_line_of_the_first_file_is_right_once_it_is_uncommented(shell: Shell) -> None:
    shell("config", "init")
    lines = (shell.folder / "kauditor.toml").read_text().splitlines()
    bare = [line.removeprefix("# ") for line in lines]
    text = "\n".join(line for line in bare if line.startswith("[") or " = " in line)
    tomllib.loads(text)
    settings = load(shell.write("whole.toml", text)).settings
    assert settings.gate.min_limit == 3000
    assert settings.waiver[0].of == "STOR006"


def test_a_flag_outweighs_a_variable_a_variable_the_project_and_the_project_the_user(
    shell: Shell,
) -> None:
    (shell.folder / ".config" / "kauditor").mkdir(parents=True)
    user = shell.write(
        ".config/kauditor/config.toml", "[gate]\nmin-score = 1\nmin-coverage = 1\nmin-limit = 1\n"
    )
    project = shell.write("kauditor.toml", "[gate]\nmin-score = 2\nmin-limit = 2\n")
    shell.monkeypatch.setenv("KAUDITOR_MIN_LIMIT", "3")
    shell.monkeypatch.setenv("KAUDITOR_FAIL_ON", "low")
    found = shown(shell, "--fail-on", "high")
    assert found["gate.min-coverage"] == (1, f"{user} [gate]")
    assert found["gate.min-score"] == (2, f"{project} [gate]")
    assert found["gate.min-limit"] == (3, "KAUDITOR_MIN_LIMIT")
    assert found["gate.fail-on"] == ("high", "--fail-on")
    assert found["gate.fail-on-new"] == (None, "default")
    assert shell("config", "show") == 0
    line = next(line for line in shell.out.splitlines() if line.startswith("gate.min-limit"))
    assert line.split() == ["gate.min-limit", "=", "3", "#", "KAUDITOR_MIN_LIMIT"]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("KAUDITOR_MIN_LIMIT", "999999", 1),
        ("KAUDITOR_MIN_LIMIT", "1", 0),
        ("KAUDITOR_MIN_SCORE", "99", 1),
        ("KAUDITOR_MIN_AREA_SCORE", "etcd=100,network=100", 1),
        ("KAUDITOR_FAIL_ON", "critical", 1),
        ("KAUDITOR_MIN_COVERAGE", "100", 4),
    ],
)
def test_a_variable_gates_a_scan(shell: Shell, name: str, value: str, status: int) -> None:
    shell.monkeypatch.setenv(name, value)
    assert shell("scan", "--demo", "-o", "score") == status, shell.err
    assert "GATE" in shell.err


def test_the_target_says_who_asked_for_it(shell: Shell) -> None:
    shell.write("kauditor.toml", "[cluster.demo]\ntarget-nodes = 5000\n")
    shell.monkeypatch.setenv("KAUDITOR_TARGET_NODES", "4000")
    shell("scan", "--demo", "-o", "json")
    assert json.loads(shell.out)["target"] == {"nodes": 4000, "source": "KAUDITOR_TARGET_NODES"}
    shell("scan", "--demo", "-o", "json", "--target-nodes", "3000")
    assert json.loads(shell.out)["target"] == {"nodes": 3000, "source": "--target-nodes"}


def test_a_variable_names_the_settings_file(shell: Shell) -> None:
    file = shell.write("other.toml", "[gate]\nmin-score = 99\n")
    shell.monkeypatch.setenv("KAUDITOR_CONFIG", str(file))
    assert shown(shell)["gate.min-score"][0] == 99


@pytest.mark.parametrize(
    ("words", "variables", "text", "says"),
    [
        (("scan", "--demo"), {"KAUDITOR_MIN_SCORE": "high"}, "", "KAUDITOR_MIN_SCORE=high"),
        (("config", "show"), {"KAUDITOR_TARGET_NODES": "-1"}, "", "KAUDITOR_TARGET_NODES=-1"),
        (("config", "show"), {"KAUDITOR_CONFIG": "missing.toml"}, "", "missing.toml"),
        (("config", "show", "-o", "pdf"), {}, "", "text or json"),
        (("config", "show", "--fail-on", "awful"), {}, "", "--fail-on awful"),
        (("config", "validate"), {}, "[gate]\nmin-scor = 1\n", "did you mean 'min-score'?"),
        (("config", "validate"), {}, "[checks.SCHED01]\n", "no check 'SCHED01'; did you mean"),
        (("config", "validate"), {}, "[checks.SCHED001]\nwarn = 1\n", "no option 'warn'"),
        (("scan", "--demo"), {}, "[checks.SCHED01]\n", "no check 'SCHED01'; did you mean"),
        (("scan", "--demo", "--min-area-score", "dns=7"), {}, "", "no area 'dns'"),
        (("scan", "--demo", "--baseline", "missing.json"), {}, "", "missing.json"),
        (("completion", "tcsh"), {}, "", "bash, zsh, fish"),
    ],
)
def test_bad_settings_get_one_sentence(
    shell: Shell, words: tuple[str, ...], variables: dict[str, str], text: str, says: str
) -> None:
    shell.write("kauditor.toml", text)
    for name, value in variables.items():
        shell.monkeypatch.setenv(name, value)
    assert says in shell.refusal(*words)


def test_without_a_file_there_is_nothing_to_validate(shell: Shell) -> None:
    (shell.folder / ".git").mkdir()
    assert "config init" in shell.refusal("config", "validate")


def test_the_schema_is_printed(shell: Shell) -> None:
    assert shell("config", "schema") == 0
    document = json.loads(shell.out)
    assert document["title"] == "kauditor.toml"
    gate = document["$defs"]["GateSettings"]
    assert {"min-limit", "fail-on-worse", "min-area-score"} <= set(gate["properties"])
    assert gate["additionalProperties"] is False


def test_a_baseline_of_the_settings_may_be_missing_at_first(
    shell: Shell, demo: Report, saved: Callable[..., str]
) -> None:
    shell.write(
        "kauditor.toml",
        '[gate]\nbaseline = "base.json"\nfail-on-new = true\nfail-on-worse = true\n',
    )
    assert shell("scan", "--demo", "-o", "json=base.json") == 4
    assert "no baseline yet" in shell.err
    assert shell("scan", "--demo", "-o", "score") == 0, shell.err
    (shell.folder / "deeper").mkdir()
    shell.monkeypatch.chdir(shell.folder / "deeper")
    assert shell("scan", "--demo", "-o", "score") == 0, shell.err
    (shell.folder / "base.json").write_text("{}")
    assert "base.json" in shell.refusal("scan", "--demo")


def test_a_comparison_with_the_baseline_is_kept_in_the_report(
    shell: Shell, saved: Callable[..., str]
) -> None:
    assert shell("scan", "--demo", "--baseline", saved(), "-o", "json=r.json", "--fail-on-new") == 0
    document = json.loads((shell.folder / "r.json").read_text())
    assert document["comparison"]["counts"]["unchanged"] > 5
    # The saved comparison serves a later gate that names no baseline of its own.
    shell.write("kauditor.toml", "[gate]\nfail-on-new = true\n")
    assert shell("gate", "r.json") == 0, shell.err


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: Shell, name: str) -> None:
    assert shell("completion", name) == 0
    assert "kauditor" in shell.out
    assert "_KAUDITOR_COMPLETE" in shell.out


def test_a_shell_that_asks_for_words_gets_them(shell: Shell) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "kauditor"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_KAUDITOR_COMPLETE": "complete_bash",
            "COMP_WORDS": "kauditor dif",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
    )
    assert asked.stdout.split() == ["diff"], asked.stderr
