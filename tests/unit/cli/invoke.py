"""Runs the command line inside the test's own process: fast enough for many small questions."""

import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kauditor.cli.app import app
from kauditor.model.report import Report


class Shell:
    """A folder to work in, and the last answer."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HOME", str(folder))
        for name in ("XDG_CONFIG_HOME", "KUBECONFIG"):
            monkeypatch.delenv(name, raising=False)
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        """Run, keep what was printed, and give the exit status."""
        result = CliRunner().invoke(app, list(words), prog_name="kauditor")
        self.out, self.err = result.stdout, result.stderr
        assert "Traceback" not in self.err
        return result.exit_code

    def refusal(self, *words: str) -> str:
        """The one sentence of a command that has to exit 2 and to print nothing else."""
        assert self(*words) == 2, self.err
        assert self.out == ""
        assert self.err.startswith("kauditor: ")
        assert self.err.count("\n") == 1
        return self.err

    def write(self, name: str, text: str) -> Path:
        """A file in the folder."""
        file = self.folder / name
        file.write_text(text)
        return file


def waiver_of(report: Report, *, days: int = 30, check: str = "AS002", more: str = "") -> str:
    """A waiver as it is written, until so many days after the report's own."""
    until = datetime.date.fromisoformat(report.taken[:10]) + datetime.timedelta(days=days)
    return (
        f'[[waiver]]\ncheck = "{check}"\nuntil = {until}\nreason = "moves soon"\n'
        f'owner = "o@example.com"\n{more}'
    )
