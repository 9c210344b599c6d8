"""Runs before any test is imported; what tests of several folders share."""

import shutil

import pytest

# pytest would take the folders tests/actorc and tests/actorc/migrate for these packages if they were not loaded yet.
import actorc
import actorc.migrate  # noqa: F401


@pytest.fixture(scope="session")
def chromium() -> str:
    """The command of a browser without windows."""
    name = "chromium-headless-shell"
    assert shutil.which(name), f"{name} is not there: `tools/setup tests` installs it"
    return name
