"""Switches and paths that all tests share."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is no bug: only what a property says is tested, not how fast.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

# A test run in the background inherits an ignored SIGINT, and Ctrl-C could not be tried.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="Write golden files anew instead of comparing."
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
