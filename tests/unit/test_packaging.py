"""What is installed: a wheel from the sdist, run aside, from a folder with a hostile pack."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built the long way, from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    assert list(folder.glob("*.tar.gz"))
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_checks_and_templates_and_no_top_level_package_but_one(
    wheel: Path,
) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"kauditor"}
    assert "kauditor/_bundled/checks/network/pod_cidr_exhaustion.py" in names
    assert "kauditor/_bundled/report_templates/report.html.j2" in names
    assert "kauditor/data/demo-snapshot.json" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_installed_wheel_runs_the_demo_beside_a_hostile_checks_folder(
    wheel: Path, tmp_path: Path
) -> None:
    home = tmp_path / "venv"
    # The dependencies are those of this environment; only kauditor is installed anew.
    venv.create(home, with_pip=False, system_site_packages=False)
    site = next((home / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    (site / "dependencies.pth").write_text(
        "\n".join(path for path in sys.path if path.endswith("site-packages"))
    )
    hostile = tmp_path / "work" / "checks"
    hostile.mkdir(parents=True)
    (hostile / "evil.py").write_text("raise SystemExit('loaded a foreign pack')\n")
    (tmp_path / "work" / "report_templates").mkdir()
    (tmp_path / "work" / "report_templates" / "report.html.j2").write_text("foreign template")
    result = subprocess.run(
        [
            home / "bin" / "python",
            "-m",
            "kauditor",
            "scan",
            "--demo",
            "-o",
            "html=r.html",
            "-o",
            "name",
        ],
        cwd=tmp_path / "work",
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "AS002" in result.stdout
    assert "foreign" not in (tmp_path / "work" / "r.html").read_text()
    where = subprocess.run(
        [home / "bin" / "python", "-c", "import kauditor; print(kauditor.__file__)"],
        capture_output=True, text=True, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert str(home) in where


def test_both_console_scripts_lead_to_the_same_door(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    text = archive.read(entry).decode()
    assert "kauditor = kauditor.__main__:main" in text
    assert "kubectl-kauditor = kauditor.__main__:main" in text
