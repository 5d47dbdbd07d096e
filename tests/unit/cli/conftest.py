"""A shell for the tests of commands, and the demo's report, made once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kauditor import packs
from kauditor import scan as corridor
from kauditor.demo import demo_snapshot
from kauditor.model.report import Report
from tests.unit.cli.invoke import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def demo() -> Report:
    checks = tuple(packs.load(installed=False))
    return corridor.judge(demo_snapshot(), corridor.Request(checks=checks, version="1"))


@pytest.fixture
def saved(shell: Shell, demo: Report) -> Callable[..., str]:
    """Writes the demo's report, with changes to its document, and gives the file's name."""

    def save(name: str = "report.json", change: Callable[[Any], None] | None = None) -> str:
        document = msgspec.to_builtins(demo)
        if change is not None:
            change(document)
        shell.folder.joinpath(name).write_bytes(msgspec.json.encode(document))
        return name

    return save
