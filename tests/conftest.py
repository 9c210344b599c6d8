"""Runs before any test is imported; what tests of several folders share."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

# pytest would take the folder tests/actorc for this package if it was not loaded yet.
import actorc  # noqa: F401
from common.build import binary_dir, build, locked
from common.console import plain
from common.process import ROOT

# What a shell runs in the background ignores interrupts, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take longest, also left out as `slow`. They are started first: one that starts last would
# keep a single process busy at the end.
LONGEST = (
    "install/test_consumer.py",
    "install/test_editors.py",
    "actorc/migrate/test_verify.py",
    "actorc/test_cpp_errors.py",
    "fuzz/test_canary.py",
    "fuzz/test_found.py",
    "install/test_settings.py",
    "install/test_pages.py",
    "actorc/test_frames.py",
    "actorc/test_emit.py",
    "actorc/migrate/test_examples.py",
    "actorc/migrate/test_compiled_tree.py",
    "actorc/test_wrong_cpp.py",
    "actorc/test_ported.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also what is marked `long`, and all random programs")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    places = {here / name: place for place, name in enumerate(LONGEST)}
    for item in items:
        if item.path in places or item.path.relative_to(here).parts[0] in ("fuzz", "install"):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: places.get(item.path, len(places)))
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="only with --long")
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def is_long(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="session")
def chromium() -> str:
    """The command of a browser without windows."""
    name = "chromium-headless-shell"
    assert shutil.which(name), f"{name} is not there: `tools/setup tests` installs it"
    return name


@pytest.fixture(scope="session")
def prefix() -> Path:
    """Where Millrace is installed, from the build that also has the C++ tests: nothing is compiled for this alone."""
    preset, console = "clang-checked", plain(stderr=True)
    build(preset, console, ("millrace_libraries",))
    place = ROOT / "build" / "prefix"
    command = ["cmake", "--install", binary_dir(preset), "--prefix", place]
    with locked(binary_dir(preset), console):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return place
