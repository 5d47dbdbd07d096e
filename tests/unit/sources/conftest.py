"""Servers, certificates and kubeconfigs that these tests share."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kauditor.sources.live.connection import ConnectOptions, connect
from kauditor.sources.live.source import LiveSource
from tests.conftest import ROOT
from tests.unit.sources.server import Keys, Server, make_keys, serving

SAMPLES = ROOT.parent / "shared" / "samples"


@pytest.fixture
def samples() -> Path:
    if not SAMPLES.is_dir():
        pytest.skip("the shared samples are not here")
    return SAMPLES


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig, proxy or pod of whoever runs the tests."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return make_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def server() -> Iterator[Server]:
    yield from serving()


@pytest.fixture
def tls_server(keys: Keys) -> Iterator[Server]:
    yield from serving(keys.server_context())


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes a kubeconfig with one context; returns its path."""

    def written(
        server: str,
        user: dict[str, Any] | None = None,
        name: str = "config",
        **cluster: Any,
    ) -> str:
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "east", "user": "reader"}}],
            "clusters": [{"name": "east", "cluster": {"server": server, **cluster}}],
            "users": [{"name": "reader", "user": user or {}}],
        }
        path = tmp_path / name
        path.write_text(json.dumps(document))
        return str(path)

    return written


@pytest.fixture
def opened(server: Server, write: Callable[..., str]) -> Callable[..., LiveSource]:
    """Connects to the plain server, without pacing unless asked for."""

    def connected(**options: Any) -> LiveSource:
        user = options.pop("with_user", {"token": "sesame-sesame-sesame"})
        path = write(server.url, user)
        return connect(ConnectOptions(**{"kubeconfig": path, "qps": 0, **options}))

    return connected


@pytest.fixture
def swift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short waits between tries."""
    monkeypatch.setattr("kauditor.sources.live.transport.BACK_OFF_SECONDS", (0.01, 0.02, 0.03))
