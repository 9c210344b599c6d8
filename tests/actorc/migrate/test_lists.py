"""Names of actor files in CMake files."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import make, migrate, migrated

FILES = {
    "src/a.actor.cpp": "",
    "src/b.actor.cpp": "",
    "src/c.actor.h": "",
    "d.actor.cpp": "ACTOR Future<Void> left();\n",
}


def listed(folder: Path, text: str) -> str:
    return migrated(folder, FILES | {"CMakeLists.txt": text}, status=1)["CMakeLists.txt"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("set(S src/a.actor.cpp src/plain.cpp)", "set(S src/a.cpp src/plain.cpp)"),
        ('add_flow_target(SRCS "src/a.actor.cpp" d.actor.cpp)', 'add_flow_target(SRCS "src/a.cpp" d.actor.cpp)'),
        ("set(S ${CMAKE_CURRENT_SOURCE_DIR}/src/a.actor.cpp)", "set(S ${CMAKE_CURRENT_SOURCE_DIR}/src/a.cpp)"),
        ("# src/a.actor.cpp\n#[[ src/a.actor.cpp ]]\nset(S)", "# src/a.actor.cpp\n#[[ src/a.actor.cpp ]]\nset(S)"),
        (
            "  add_actor_sources(t FILES src/a.actor.cpp src/b.actor.cpp) # all",
            "  target_sources(t PRIVATE src/a.cpp src/b.cpp)\n"
            "  target_link_libraries(t PRIVATE millrace::flow) # all",
        ),
        (
            "add_actor_sources(t BACKEND ${b} OPTIONS --json\n    FILES src/a.actor.cpp\n    src/c.actor.h)",
            "target_sources(t PRIVATE src/a.cpp\n    src/c.h)\ntarget_link_libraries(t PUBLIC millrace::flow)",
        ),
        (
            "add_actor_sources(t DEFINITIONS X=1 Y FILES src/a.actor.cpp src/b.actor.cpp)",
            "target_sources(t PRIVATE src/a.cpp src/b.cpp)\ntarget_link_libraries(t PRIVATE millrace::flow)\n"
            "set_property(SOURCE src/a.cpp src/b.cpp APPEND PROPERTY COMPILE_DEFINITIONS X=1 Y)",
        ),
        (
            "add_actor_sources(t FILES src/a.actor.cpp d.actor.cpp)",
            "add_actor_sources(t FILES d.actor.cpp)\ntarget_sources(t PRIVATE src/a.cpp)\n"
            "target_link_libraries(t PRIVATE millrace::flow)",
        ),
        ("add_actor_sources(t FILES d.actor.cpp)", "add_actor_sources(t FILES d.actor.cpp)"),
    ],
)  # fmt: skip
def test_names_follow(before: str, after: str, around: Path) -> None:
    assert listed(around, before + "\n") == after + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set(S other/a.actor.cpp)", "CMakeLists.txt:1:7: look: `other/a.actor.cpp` is none of the given files"),
        ("set(S src/a.actor.g.cpp)", "CMakeLists.txt:1:7: look: `src/a.actor.g.cpp` was made of a file that is plain"),
        ("if(S MATCHES a\\.actor\\.cpp)", r"CMakeLists.txt:1:14: look: `a\.actor\.cpp` stands for actor files"),
        (
            "add_actor_sources(t BACKEND coroutine FILES src/a.actor.cpp)\nadd_actor_sources(t FILES src/a.actor.cpp)",
            "CMakeLists.txt:2:27: look: `src/a.actor.cpp` is added to `t` a second time",
        ),
        ("file(GLOB S *.actor.cpp)", "CMakeLists.txt:1:13: look: `*.actor.cpp` stands for actor files"),
        ("add_actor_sources(t FILES ${S})", "CMakeLists.txt:1:27: look: `add_actor_sources` takes actor files only"),
    ],
)
def test_what_cannot_be_followed_is_told(
    text: str, message: str, around: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(around, FILES | {"CMakeLists.txt": text + "\n"})
    assert migrate(".") == 1
    assert message in capsys.readouterr().out


def test_what_is_not_given_stays_and_is_not_told(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(around, "set(S other/none.actor.cpp)\n") == "set(S other/none.actor.cpp)\n"
    make(around, {"e/CMakeLists.txt": "file(GLOB S *.actor.cpp)\n"})
    assert migrate("e") == 0  # nothing is migrated here
    assert "look" not in capsys.readouterr().out


def test_a_list_of_which_a_part_is_in_a_variable(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    after = listed(around, "add_actor_sources(t FILES src/a.actor.cpp ${S})\n")
    assert after == "add_actor_sources(t FILES src/a.cpp ${S})\n"
    assert "takes actor files only" in capsys.readouterr().out


def test_paths_are_those_of_the_list(around: Path) -> None:
    files = {
        "lib/CMakeLists.txt": "set(S a.actor.cpp)\n",
        "lib/a.actor.cpp": "",
        "other/a.actor.cpp": "ACTOR Future<Void> left();\n",
        "other/list.cmake": "set(S a.actor.cpp ../lib/a.actor.cpp)\n",
    }
    after = migrated(around, files, status=1)
    assert after["lib/CMakeLists.txt"] == "set(S a.cpp)\n"
    assert after["other/list.cmake"] == "set(S a.actor.cpp ../lib/a.cpp)\n"


def test_lines_of_a_list_end_as_they_did(around: Path) -> None:
    files = {"CMakeLists.txt": "add_actor_sources(t FILES a.actor.cpp)\r\n", "a.actor.cpp": ""}
    after = migrated(around, files)["CMakeLists.txt"]
    assert after == "target_sources(t PRIVATE a.cpp)\r\ntarget_link_libraries(t PRIVATE millrace::flow)\r\n"


def test_only_our_library_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"a.actor.cpp": "", "CMakeLists.txt": "add_actor_sources(t FILES a.actor.cpp)\n"}
    found = migrated(tmp_path, files, "--target=foundationdb")
    assert found["CMakeLists.txt"] == "target_sources(t PRIVATE a.cpp)\n"
