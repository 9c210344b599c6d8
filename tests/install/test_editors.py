"""What an editor with clangd shows of actor sources: no false error, and the names inside actors."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from clangd import Clangd

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("tests/**/programs/*.actor.cpp", "tests/compat/*.actor.cpp")
PROGRAMS = sorted(path for pattern in EXAMPLES for path in ROOT.glob(pattern))
INPUTS = ("tests/golden/", "tests/actorc/", "tests/install/headers/")  # of tests: with faults, or parts of a project
OTHERS = sorted(
    path
    for top in ("bench", "net", "tests")
    for path in (ROOT / top).rglob("*.actor.cpp")
    if path not in PROGRAMS and not path.relative_to(ROOT).as_posix().startswith(INPUTS)
)
NO_CPP = ROOT / "tests" / "programs" / "beyond_cpp.actor.cpp"
IN_PLACE = ROOT / "tests" / "programs" / "rooms.actor.cpp"  # waitNext() of an operation; editors see that of streams
CLASSES = ROOT / "tests" / "programs" / "sizes.actor.cpp"  # names the classes that only actorc makes
BLOCK = re.compile(r"^```cpp[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HEADERS = ("<array>", "<cstdio>", "<string>", "<vector>", '"flow/flow.h"', '"flow/sync/channel.h"', '"flow/test.h"')
HEAD = "".join(f"#include {header}\n" for header in HEADERS) + "using namespace flow;\n"

ACTOR = """\
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"
ACTOR Future<int> sum(FutureStream<int> numbers, Future<Void> done) {
    state int counterOfNumbers = 0;
    loop choose {
        when(int next = waitNext(numbers)) {
            counterOf += next;
        }
        when(wait(done)) {
            if (done./*member*/isReady())
                return counterOfNumbers;
        }
    }
}
"""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder that has been configured: that is when compile_commands.json is written."""
    folder = tmp_path_factory.mktemp("editor")
    settings = ("-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DMILLRACE_BUILD_BENCH=OFF")
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *settings]
    configured = subprocess.run(command, capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    return folder


@pytest.fixture(scope="module")
def clangd(commands: Path) -> Iterator[Clangd]:
    with Clangd(commands) as running:
        yield running


def written(name: str, text: str, folder: Path) -> Path:
    """A source with the flags of a program in a foreign project."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    database = folder / "compile_commands.json"
    entries = json.loads(database.read_text()) if database.exists() else []
    flags = ["clang++-19", "-std=c++20", "-Wall", "-Wextra", f"-I{ROOT}", "-c", str(path)]
    database.write_text(json.dumps([*entries, {"directory": str(folder), "file": str(path), "arguments": flags}]))
    return path


def whole_programs() -> list[str]:
    """Those with actors on the pages that one reads first."""
    pages = ("README.md", "flow/docs/quick_start.md")
    blocks = [block for page in pages for block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))]
    return [block for block in blocks if "actorcompiler.h" in block]


def explained_actors() -> str:
    """The right examples of all pages of --explain, each in a namespace of its own."""
    pages = sorted((ROOT / "actorc" / "actorc" / "report" / "explanations").glob("*.md"))
    assert pages
    right = [page.read_text(encoding="utf-8").split("## Right")[1] for page in pages]
    blocks = [block for text in right for block in BLOCK.findall(text)]
    actors = "".join(f"namespace page{number} {{\n{block}}}\n" for number, block in enumerate(blocks))
    return HEAD + '#include "flow/actorcompiler.h"\n' + actors


def test_every_source_has_an_entry_as_it_is_written(commands: Path) -> None:
    entries = json.loads((commands / "compile_commands.json").read_text())
    flags = {entry["file"]: entry["command"] for entry in entries}
    for program in PROGRAMS:
        assert "-std=c++20" in flags[str(program)]
        defined = flags[str(program)].rfind("-DNO_INTELLISENSE")
        assert defined <= flags[str(program)].rfind("-UNO_INTELLISENSE")  # the last one counts
        assert f"-I{ROOT}" in flags[str(program)]


def marks_of_actors(clangd: Clangd, path: Path) -> list[str]:
    """What the editor shows, but for headers that are not used, true or not: no matter of actors."""
    return [found for found in clangd.diagnostics(path) if "is not used directly" not in found]


def test_no_program_is_marked(clangd: Clangd) -> None:
    shown = [program for program in PROGRAMS if program not in (NO_CPP, IN_PLACE, CLASSES)]
    for program in shown:
        clangd.open(program, program.read_text(encoding="utf-8"))
    marked = {program.name: marks_of_actors(clangd, program) for program in shown}
    assert "\n".join(f"{name}: {found}" for name, found in marked.items() if found) == ""


def test_no_other_actor_source_is_marked(tmp_path: Path) -> None:
    """Those of benchmarks, examples and unit tests, with the flags of an editor that knows the headers."""
    entries = []
    for path in OTHERS:
        folders = [*([ROOT / "flow/compat", ROOT / "net/compat"] if needs_compat(path) else []), ROOT, path.parent]
        arguments = ["clang++-19", "-std=c++20", *(f"-I{folder}" for folder in folders), "-c", str(path)]
        entries.append({"directory": str(tmp_path), "file": str(path), "arguments": arguments})
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    with Clangd(tmp_path) as clangd:
        for path in OTHERS:
            clangd.open(path, path.read_text(encoding="utf-8"))
        marked = {path.relative_to(ROOT).as_posix(): marks_of_actors(clangd, path) for path in OTHERS}
    assert "\n".join(f"{name}: {found}" for name, found in marked.items() if found) == ""


def needs_compat(path: Path) -> bool:
    return path.parent.name == "ported_from_flow" or "fdbrpc/" in path.read_text(encoding="utf-8")


def lines_with(marks: tuple[str, ...], path: Path) -> set[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if any(mark in line for mark in marks)}


def marked_lines(clangd: Clangd, path: Path) -> set[int]:
    clangd.open(path, path.read_text(encoding="utf-8"))
    return {int(found.split(":")[0]) for found in clangd.diagnostics(path)}


def test_what_only_actorc_accepts_is_marked(clangd: Clangd) -> None:
    """Whatever is no longer marked there belongs into another program."""
    marks = ("Explicit value", "return inner", "int choose", "k += n", "[this", ".add(std", "::bytesDescriptor")
    assert lines_with(marks, NO_CPP) <= marked_lines(clangd, NO_CPP)
    assert lines_with(("CheeseActor>", "NestedActor>"), CLASSES) <= marked_lines(clangd, CLASSES)


def test_documented_actors_are_not_marked(tmp_path: Path) -> None:
    texts = [*whole_programs(), explained_actors()]
    assert len(texts) > 2
    paths = [written(f"{number}.actor.cpp", text, tmp_path) for number, text in enumerate(texts)]
    with Clangd(tmp_path) as clangd:
        for path in paths:
            clangd.open(path, path.read_text(encoding="utf-8"))
        assert [marks_of_actors(clangd, path) for path in paths] == [[]] * len(paths)


STORE = """\
#include "flow/flow.h"
struct Store { static flow::Future<int> get(Store* const& self, int const& key); };
flow::Future<int> cube(int const& x);
"""
STORED = """\
#include "store.h"
using namespace flow;
#include "flow/actorcompiler.h"
ACTOR Future<int> Store::get(Store* self, int key) { wait(delay(1)); return key + (self != nullptr); }
ACTOR Future<int> cube(int x) { int next = wait(cube(x - 1)); return x * next; }
"""


def test_actors_of_a_plain_header_are_not_marked_with_the_documented_settings(tmp_path: Path) -> None:
    page = (ROOT / "actorc" / "docs" / "editors.md").read_text(encoding="utf-8")
    (settings,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    for name, wanted in (("without", {"4", "5"}), ("with", set())):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "store.h").write_text(STORE, encoding="utf-8")
        (folder / ".clangd").write_text(settings if name == "with" else "", encoding="utf-8")
        path = written("store.actor.cpp", STORED, folder)
        with Clangd(folder) as clangd:
            clangd.open(path, STORED)
            assert {found.split(":")[0] for found in marks_of_actors(clangd, path)} == wanted


def test_inside_an_actor(tmp_path: Path) -> None:
    path = written("sum.actor.cpp", ACTOR, tmp_path)
    with Clangd(tmp_path) as clangd:
        clangd.open(path, ACTOR)
        assert [found.split(":")[0] for found in clangd.diagnostics(path)] == ["8"]  # the name is not complete
        assert "counterOfNumbers" in clangd.completions(path, ACTOR, "   counterOf")
        assert {"isReady", "get"} <= clangd.completions(path, ACTOR, "done./*member*/")
