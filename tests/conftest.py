"""Runs before any test is imported; what tests of several folders share."""

import shutil
import signal

import pytest

# pytest would take the folder tests/actorc for this package if it was not loaded yet.
import actorc  # noqa: F401

# What a shell runs in the background ignores interrupts, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The command of a browser without windows."""
    name = "chromium-headless-shell"
    assert shutil.which(name), f"{name} is not there: `tools/setup tests` installs it"
    return name
