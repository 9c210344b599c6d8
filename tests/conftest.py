"""Runs before any test is imported; what tests of several folders share."""

import resource
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

# pytest would take the folder tests/actorc for this package if it was not loaded yet.
import actorc  # noqa: F401
from common.build import binary_dir, build, locked
from common.tree import ROOT
from millrace.common.console import plain

# What a shell runs in the background ignores interrupts, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The files that take longest, most of them more than 8 seconds of a processor, also left out as `slow`. They are
# started first: one that starts last would keep a single process busy at the end.
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
    "actorc/migrate/test_examples.py",
    "actorc/migrate/test_compiled_tree.py",
    "actorc/test_wrong_cpp.py",
    "actorc/test_ported.py",
    "tools/millrace/port/test_vocabulary.py",
    "actorc/test_accepted_cpp.py",
    "actorc/test_lsp.py",
    "actorc/test_big_inputs.py",
    "tools/test_docs_site.py",
    "tools/benchlib/test_compare_trees.py",
    "actorc/test_traps.py",
    "tools/benchlib/report/test_page_in_browser.py",
    "tools/millrace/simulate/test_cluster.py",
    "actorc/test_gcc_traps.py",
    "actorc/test_robustness.py",
    "tools/test_task_mistakes.py",
    "tools/millrace/simulate/test_run.py",
    "tools/millrace/port/test_forward.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", metavar="FILE", help="append a line for each test with its processor seconds")


def cpu_seconds() -> float:
    """Of this process, and of those that it started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = cpu_seconds()
    result = yield
    if place := item.config.getoption("--times"):
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{cpu_seconds() - before:.2f}\t{item.nodeid}\n")
    return result


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    places = {here / name: place for place, name in enumerate(LONGEST)}
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        if item.path in places or folder in ("fuzz", "install"):
            item.add_marker(pytest.mark.slow)
        if folder == "install" and item.path.name != "test_headers.py":  # a program needs all headers: tested usually
            item.add_marker(pytest.mark.install)
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            compilers = {item.callspec.params.get(name) for name in ("compiler", "toolchain")}
            if compilers & {"g++", "g++-12", "gcc"}:
                item.add_marker(pytest.mark.gcc)
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def chromium() -> str:
    """The command of a browser without windows."""
    name = "chromium-headless-shell"
    assert shutil.which(name), f"{name} is not there: `tools/setup tests` installs it"
    return name


@pytest.fixture(scope="session")
def prefix() -> Path:
    """Where Millrace is installed, from the usual build: nothing is compiled for this alone."""
    preset, console = "tests", plain(stderr=True)
    build(preset, console, ("millrace_libraries",))
    place = ROOT / "build" / "prefix"
    command = ["cmake", "--install", binary_dir(preset), "--prefix", place]
    with locked(binary_dir(preset), console):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return place
