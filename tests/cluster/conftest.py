"""A control plane for the session, or one sentence why there is none."""

import os
from collections.abc import Iterator

import pytest

from tests.cluster.build import ControlPlaneUnavailable, ensure_binaries
from tests.cluster.control_plane import ControlPlane


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/cluster/" in item.path.as_posix():
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def binaries() -> None:
    """Skip in one line where no control plane can be had; in CI that is a failure."""
    try:
        ensure_binaries()
    except ControlPlaneUnavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"no control plane: {error}", pytrace=False)
        pytest.skip(f"no control plane: {error}")


@pytest.fixture(scope="session")
def control_plane(binaries: None) -> Iterator[ControlPlane]:
    """All components, empty."""
    with ControlPlane() as plane:
        yield plane
