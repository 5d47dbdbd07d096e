"""A pack of somebody else's, with a fact of its own, through all three doors."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kauditor.packs import load_folder
from kauditor.testing import (
    breaches,
    load_cases,
    mismatches,
    run,
    unknown_cases,
    wrongly_decided,
)
from tests.conftest import ROOT

PACK = ROOT / "tests" / "third_party" / "pack"


def scan(folder: Path, *words: str, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kauditor", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
    )


def states(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert result.returncode == 0, result.stderr
    return {row["check"]: row["state"] for row in json.loads(result.stdout)["results"]}


def test_the_harness_serves_a_foreign_pack() -> None:
    (check,) = load_folder(PACK, "tenant")
    assert breaches(check) == []
    for case in load_cases(PACK / "tests" / "cases" / "quota_free_cluster.toml"):
        assert mismatches(case, run(check, case)) == []
        for denied in unknown_cases(check, case):
            assert wrongly_decided(check, case, denied) == []


def test_door_one_the_folder_of_a_flag(tmp_path: Path) -> None:
    words = ("scan", "--demo", "--checks", str(PACK), "-o", "json")
    found = states(scan(tmp_path, *words))
    # The demo was recorded without this fact, so the answer is that the snapshot is stale.
    assert found["TENANT001"] == "unknown"
    assert "ADDR001" in found


def test_door_two_an_installed_package(tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(PACK, site / "tenant_pack", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "tenant_pack" / "__init__.py").write_text("")
    info = site / "tenant_pack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tenant-pack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kauditor.checks]\ntenant = tenant_pack\n")
    path = Path(f"{ROOT}{os.pathsep}{site}")
    assert (
        states(scan(tmp_path, "scan", "--demo", "-o", "json", path=path))["TENANT001"] == "unknown"
    )


def test_door_three_the_built_in_folder(tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    for part in ("kauditor", "checks", "report_templates"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in PACK.glob("*.py"):
        shutil.copy(file, copy / "checks")
    assert (
        states(scan(tmp_path, "scan", "--demo", "-o", "json", path=copy))["TENANT001"] == "unknown"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("checks", "list"),
        ("checks", "list", "-o", "json"),
        ("checks", "show", "ADDR001"),
        ("checks", "doc", "addr001"),
    ],
)
def test_checks_are_listed_and_explained(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = scan(tmp_path, *words)
    assert result.returncode == 0, result.stderr
    assert "ADDR001" in result.stdout


def test_a_new_check_passes_its_own_cases(tmp_path: Path) -> None:
    made = scan(tmp_path, "checks", "new", "single_zone", "--id", "MYPACK001", "--checks", "mine")
    assert made.returncode == 0, made.stderr
    tried = scan(tmp_path, "checks", "test", "--checks", "mine")
    assert tried.returncode == 0, tried.stdout
    again = scan(tmp_path, "checks", "new", "single_zone", "--id", "MYPACK001", "--checks", "mine")
    assert again.returncode == 2
    assert "there already" in again.stderr


def test_a_pack_with_a_wrong_case_fails(tmp_path: Path) -> None:
    shutil.copytree(PACK, tmp_path / "pack", ignore=shutil.ignore_patterns("__pycache__"))
    cases = tmp_path / "pack" / "tests" / "cases" / "quota_free_cluster.toml"
    cases.write_text(cases.read_text().replace('state = "pass"', 'state = "fail"'))
    result = scan(tmp_path, "checks", "test", "--checks", "pack")
    assert result.returncode == 1
    assert "expected" in result.stdout


def test_the_role_holds_what_the_checks_read_and_no_secret(tmp_path: Path) -> None:
    role = json.loads(scan(tmp_path, "rbac", "-o", "json").stdout)
    verbs = {verb for rule in role["rules"] for verb in rule["verbs"]}
    resources = {name for rule in role["rules"] for name in rule.get("resources", [])}
    assert verbs == {"get", "list"}
    assert "secrets" not in resources
    assert not any("/" in name for name in resources)
    few = json.loads(scan(tmp_path, "rbac", "-o", "json", "--only", "AS006").stdout)
    assert "pods" not in {name for rule in few["rules"] for name in rule.get("resources", [])}
