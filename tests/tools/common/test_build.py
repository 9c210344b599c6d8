"""Builds in one folder take turns, and what is wrong in a folder's cache does not stay there."""

from __future__ import annotations

import io
import json
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from common.build import BuildError, build, locked

PRESETS = {
    "version": 6,
    "configurePresets": [{"name": "p", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}],
}
# What the cache holds from an earlier configure can make the next one fail, as a compiler that is gone does.
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
set(FOUND good CACHE STRING "")
if(NOT FOUND STREQUAL good)
  message(FATAL_ERROR "the cache is broken")
endif()
add_custom_target(copied COMMAND ${CMAKE_COMMAND} -E touch done)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "CMakePresets.json").write_text(json.dumps(PRESETS))
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    return tmp_path


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_a_cache_that_is_broken_is_made_anew(tree: Path) -> None:
    build("p", console(), ["copied"], source=tree)
    cache = tree / "build" / "p" / "CMakeCache.txt"
    (tree / "build" / "p" / "done").unlink()
    cache.write_text(cache.read_text().replace("FOUND:STRING=good", "FOUND:STRING=bad"))
    build("p", console(), ["copied"], source=tree)
    assert (tree / "build" / "p" / "done").exists()


def test_sources_that_cannot_be_configured_still_say_why(tree: Path) -> None:
    build("p", console(), source=tree)
    (tree / "CMakeLists.txt").write_text(CMAKE + 'message(FATAL_ERROR "never")\n')
    with pytest.raises(BuildError, match="never"):
        build("p", console(), source=tree)


def test_who_comes_second_waits_and_says_for_what(tree: Path) -> None:
    folder = tree / "build" / "p"
    said = console()
    order = []

    def second() -> None:
        build("p", said, source=tree)
        order.append("second")

    with locked(folder, console()):
        thread = threading.Thread(target=second)
        thread.start()
        deadline = time.monotonic() + 10
        while not said.file.getvalue() and time.monotonic() < deadline:  # type: ignore[attr-defined]
            time.sleep(0.01)
        assert not (folder / "CMakeCache.txt").exists()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert said.file.getvalue() == f"another tool builds in {folder}: waiting for it\n"  # type: ignore[attr-defined]
