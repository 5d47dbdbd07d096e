"""A control plane for the session, or one sentence why there is none.

KAUDITOR_TEST_KUBECONFIG names a cluster to use instead of one of our own; what only our own can
do is skipped then.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import healthy
from tests.cluster.build import ControlPlaneUnavailable, ensure_binaries
from tests.cluster.control_plane import ControlPlane
from tests.cluster.given_cluster import GivenCluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/cluster/" in item.path.as_posix():
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def binaries() -> Path:
    """Where the programs are. Skips in one line where none can be had; in CI that is a failure."""
    try:
        return ensure_binaries()
    except ControlPlaneUnavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"no control plane: {error}", pytrace=False)
        pytest.skip(f"no control plane: {error}")


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane | GivenCluster]:
    """One for all tests of the session, so each works in a namespace of its own."""
    given = os.environ.get("KAUDITOR_TEST_KUBECONFIG")
    if given:
        yield GivenCluster(Path(given))
        return
    request.getfixturevalue("binaries")
    with ControlPlane() as plane:
        yield plane


@pytest.fixture(scope="session")
def own_control_plane(control_plane: ControlPlane | GivenCluster) -> ControlPlane:
    """The same, for tests of its users, flags, processes or audit log: never a given cluster."""
    if isinstance(control_plane, GivenCluster):
        pytest.skip("needs a server of our own, and KAUDITOR_TEST_KUBECONFIG names another")
    return control_plane


@pytest.fixture(scope="session")
def cluster_200(own_control_plane: ControlPlane) -> healthy.Cluster200:
    """200 nodes in the session's control plane; never loaded into a cluster that isn't ours."""
    client = own_control_plane.client()
    seconds = healthy.load(client)
    return healthy.Cluster200(own_control_plane, client, own_control_plane.kubeconfig(), seconds)
