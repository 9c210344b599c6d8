"""`actorc --frames` on real programs, with each compiler that is installed; and FLOW_ASSERT_FRAME_SIZE, which agrees
with it to the byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from actorc.driver import compile_text
from actorc.source import Source
from actorc_frames.compile import compilers
from common.precompiled import precompiled

ROOT = Path(__file__).parents[2]
COMPILERS = compilers()
PROGRAM = """\
#include "flow/flow.h"
#include <string>
using namespace flow;
#include "flow/actorcompiler.h"

ACTOR Future<int> keeps(Future<int> input, int64_t number, std::string name, FLOW_ASSERT_FRAME_SIZE(LIMIT)) {
    state std::string text = name + "x";
    state int64_t table[20] = {};
    table[0] = number;
    wait(delay(1.0));
    int value = wait(input);
    return value + int(table[number % 20]) + int(text.size());
}

ACTOR template <class T>
Future<T> unused(Future<T> input) {
    T value = wait(input);
    return value;
}

Future<int> byHand(Future<int> input, int64_t number, std::string name, FLOW_ASSERT_FRAME_SIZE(BY_HAND)) {
    int64_t table[20] = {};
    table[0] = number;
    co_await delay(1.0);
    int value = co_await input;
    co_return value + int(table[number % 20]) + int(name.size());
}

struct alignas(64) Line {
    int64_t values[8];
};

Future<int> aligned(Future<int> input, int64_t number, FLOW_ASSERT_FRAME_SIZE(ALIGNED)) {
    Line line{};
    line.values[0] = number;
    int value = co_await input;
    co_return value + int(line.values[number % 8]);
}

namespace {
Future<Void> hidden(double seconds) {
    co_await delay(seconds);
}
} // namespace

Future<Void> shown() {
    return hidden(1.0);
}
"""
NO_LIMIT = 100000


@dataclass
class Run:
    folder: Path
    document: dict[str, Any]
    frames: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)

    def block(self, function: str, style: str, compiler: str) -> int:
        return int(self.frames[function, style, compiler]["block"])


def actorc(*arguments: str | Path, folder: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", str(ROOT / "actorc"), *map(str, arguments)]
    environment = None if path is None else {"PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With no other compiler to be found."""
    folder = tmp_path_factory.mktemp("frames")
    (folder / "program.actor.cpp").write_text(PROGRAM)
    (folder / "bin").mkdir()
    for name in (compiler, "as"):
        (folder / "bin" / name).symlink_to(shutil.which(name) or name)
    flags = ["--", "-O2", "-DLIMIT=1", "-DBY_HAND=1", "-DALIGNED=1"]  # what is too large is shown as well
    done = actorc("--frames", "--json", "program.actor.cpp", *flags, folder=folder, path=str(folder / "bin"))
    assert done.returncode == 0, done.stderr
    found = Run(folder, json.loads(done.stdout))
    for frame in found.document["frames"]:
        found.frames[frame["function"], frame["style"], frame["compiler"]] = frame
    return found


def test_every_style_is_shown(run: Run, compiler: str) -> None:
    written = [(function, "coroutine") for function in ("keeps", "byHand", "aligned", "hidden")]
    styles = [("keeps", "state machine"), *written]
    assert set(run.frames) == {(*style, compiler) for style in styles}
    assert run.document["failures"] == []


def test_the_members_fill_the_block_without_gaps(run: Run) -> None:
    for frame in run.frames.values():
        end = 0
        for member in frame["members"]:
            assert member["offset"] == end, frame
            end += member["size"]
        assert end == frame["block"] >= frame["size"]


def test_the_places_are_those_in_the_source(run: Run) -> None:
    for (function, _, _), frame in run.frames.items():
        line = PROGRAM.splitlines()[frame["line"] - 1]
        assert f" {function}(" in line
        assert frame["file"].endswith("program.actor.cpp")


def test_what_the_author_wrote_is_found_by_name_and_kind(run: Run, compiler: str) -> None:
    for style in ("state machine", "coroutine"):
        frame = run.frames["keeps", style, compiler]
        found = {each["name"]: (each["kind"], each["size"]) for each in frame["members"]}
        assert found["name"] == ("parameter", 32)
        assert found["text"] == ("variable", 32)
        assert found["table"] == ("variable", 160)
        assert found["input"][0] == "parameter"
        assert found["result"] == ("result", 4)
        assert found["resume"] == ("header", 8)


@pytest.mark.gcc
def test_a_state_machine_is_the_same_with_every_compiler(tmp_path: Path) -> None:
    (tmp_path / "program.actor.cpp").write_text(PROGRAM)
    flags = ["--", "-O2", "-DLIMIT=1", "-DBY_HAND=1", "-DALIGNED=1"]
    done = actorc("--frames", "--json", "program.actor.cpp", *flags, folder=tmp_path)
    frames = [each for each in json.loads(done.stdout)["frames"] if each["style"] == "state machine"]
    assert {each["compiler"] for each in frames} == set(COMPILERS)
    assert len({each["size"] for each in frames}) == 1


def test_a_template_that_nothing_uses_is_said_to_be_absent(run: Run) -> None:
    assert any("`unused`" in note and "no compiled code" in note for note in run.document["notes"])


def compiled(run: Run, backend: str, compiler: str, flags: list[str]) -> subprocess.CompletedProcess[str]:
    """What the compiler says of the program, translated by a back end."""
    output = run.folder / f"{backend}.cpp"
    if not output.exists():
        assert actorc("--backend", backend, "program.actor.cpp", output, folder=run.folder).returncode == 0
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += [] if "-O2" in flags else precompiled(*command)  # as for other tests, which do not optimise
    command += ["-I", str(ROOT), *flags, str(output)]
    return subprocess.run(command, cwd=run.folder, capture_output=True, text=True, check=False)


def compiles(run: Run, backend: str, compiler: str, flags: list[str]) -> str:
    return compiled(run, backend, compiler, flags).stderr


def test_a_state_machine_is_pinned(run: Run, compiler: str) -> None:
    block = run.block("keeps", "state machine", compiler)
    flags = ["-fsyntax-only", f"-DBY_HAND={NO_LIMIT}", f"-DALIGNED={NO_LIMIT}"]
    assert compiles(run, "state-machine", compiler, [*flags, f"-DLIMIT={block}"]) == ""
    said = compiles(run, "state-machine", compiler, [*flags, f"-DLIMIT={block - 1}"])
    assert "takes more bytes than its FLOW_ASSERT_FRAME_SIZE" in said
    assert "program.actor.cpp:6:" in said
    assert f"{block} <= " in said


def test_coroutines_are_pinned(run: Run, compiler: str) -> None:
    functions = {"LIMIT": "keeps", "BY_HAND": "byHand", "ALIGNED": "aligned"}
    blocks = {macro: run.block(function, "coroutine", compiler) for macro, function in functions.items()}
    flags = ["-O2", "-c", "-o", "/dev/null"]
    fitting = [f"-D{macro}={block}" for macro, block in blocks.items()]
    assert compiles(run, "coroutine", compiler, [*flags, *fitting]) == ""
    small = [f"-D{macro}={block - 1}" for macro, block in blocks.items()]
    said = compiles(run, "coroutine", compiler, [*flags, *small])
    for block in blocks.values():
        assert f"frameIsLargerThanItsLimit<{block - 1}" in said
    assert said.count("this coroutine's frame takes more bytes than its FLOW_ASSERT_FRAME_SIZE") == 3


def test_what_stands_in_front_of_an_aligned_frame_counts(run: Run, compiler: str) -> None:
    frame = run.frames["aligned", "coroutine", compiler]
    assert frame["members"][0]["kind"] == "padding"
    places = {member["name"]: member["offset"] for member in frame["members"]}
    assert places["resume"] % 64 == 0
    assert places["line"] % 64 == 0
    assert frame["block"] % 64 == 0


def test_without_optimisation_the_first_call_looks(run: Run, compiler: str) -> None:
    """A value that the compiler cannot compute then is in the program."""
    flags = ["-O0", "-S", "-o", "-", "-DLIMIT=1", "-DBY_HAND=1", "-DALIGNED=1"]
    done = compiled(run, "coroutine", compiler, flags)
    assert done.returncode == 0, done.stderr
    assert "reportLargeFrame" in done.stdout


def test_a_file_that_does_not_compile_shows_the_first_error_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "wrong.actor.cpp").write_text("int right;\n\nint wrong = missing;\nint more = absent;\n")
    done = actorc("--frames", "wrong.actor.cpp", folder=tmp_path)
    assert done.returncode == 1
    assert "wrong.actor.cpp:3:" in done.stderr
    assert "absent" not in done.stderr
    assert "missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistake_in_an_actor_is_that_of_actorc(tmp_path: Path) -> None:
    (tmp_path / "wrong.actor.cpp").write_text(
        "ACTOR flow::Future<int> f(flow::Future<int> x) { return 2 * wait(x); }\n"
    )
    done = actorc("--frames", "wrong.actor.cpp", folder=tmp_path)
    assert done.returncode == 1
    assert "wrong.actor.cpp:1: error:" in done.stderr
    assert "[A0401]" in done.stderr


def test_a_missing_header_says_how_flags_are_given(tmp_path: Path) -> None:
    (tmp_path / "lonely.cpp").write_text('#include "not/here.h"\n')
    done = actorc("--frames", "lonely.cpp", folder=tmp_path)
    assert done.returncode == 1
    assert "there is no compile_commands.json with this file" in done.stderr
    assert "actorc --frames lonely.cpp -- -Iinclude" in done.stderr


def test_the_flags_of_a_compile_commands_json_are_used(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "empty.h").write_text("struct NotACoroutine {};\n")
    (tmp_path / "plain.cpp").write_text('#include "empty.h"\nNotACoroutine VALUE;\n')
    command = "c++ -Wall -Werror=all -I some -DVALUE=value -O3 -o plain.o -c plain.cpp"
    entry = {"directory": str(tmp_path), "file": "plain.cpp", "command": command}
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    done = actorc("--frames", "plain.cpp", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain.cpp: has no coroutine that returns a Future" in done.stdout


def test_a_file_without_actors_says_so(tmp_path: Path) -> None:
    (tmp_path / "none.actor.cpp").write_text("int x;\n")
    done = actorc("--frames", "none.actor.cpp", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "none.actor.cpp: has no actors and no coroutines" in done.stdout


def test_without_a_compiler_it_says_which_ones_it_knows(tmp_path: Path) -> None:
    (tmp_path / "none.cpp").write_text("int x;\n")
    done = actorc("--frames", "none.cpp", folder=tmp_path, path=str(tmp_path))
    assert done.returncode == 1
    assert "clang++-19 or g++ is needed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--frames"], "--frames needs a FILE"),
        (["--frames", "--batch", "x.cpp"], "--frames compiles with every back end"),
        (["--frames", "--format=sarif", "x.cpp"], "--frames prints text or json"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = actorc(*arguments, folder=tmp_path)
    assert done.returncode == 100
    assert message in done.stderr


@pytest.mark.parametrize("name", ["gone.cpp", "gone.actor.cpp", "header.h"])
def test_files_that_cannot_be_shown(name: str, tmp_path: Path) -> None:
    done = actorc("--frames", name, folder=tmp_path)
    assert done.returncode == 1
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_stripped_objects_are_recognised(tmp_path: Path) -> None:
    from actorc_frames.debug_info import NoDebugInfo, units

    (tmp_path / "x.cpp").write_text("int x;\n")
    subprocess.run([shutil.which("g++") or "g++", "-c", "x.cpp", "-o", "x.o"], cwd=tmp_path, check=True)
    with pytest.raises(NoDebugInfo, match="no debug information"):
        list(units(str(tmp_path / "x.o")))
    with pytest.raises(NoDebugInfo, match="cannot be read"):
        list(units(str(tmp_path / "x.cpp")))


@pytest.mark.pages
@pytest.mark.skipif(len(COMPILERS) < 2, reason="needs both compilers")
def test_the_page_shows_what_the_command_prints(tmp_path: Path) -> None:
    page = (ROOT / "actorc" / "docs" / "frames.md").read_text(encoding="utf-8")
    _, _, rest = page.partition('```cpp title="fetch.actor.cpp"\n')
    program, _, rest = rest.partition("```\n")
    _, _, output = rest.partition("$ actorc --frames fetch.actor.cpp -- $(pkg-config --cflags millrace)\n")
    expected, more, _ = output.partition("...\n")
    (tmp_path / "fetch.actor.cpp").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "actorc", "--frames", "fetch.actor.cpp", "--", "-std=c++20", f"-I{ROOT}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert more
    assert done.stdout.replace(f"{tmp_path}/", "").startswith(expected), done.stdout + done.stderr


@pytest.mark.pages
@pytest.mark.parametrize(("size", "status"), [("128", 0), ("64", 1)])
def test_the_actor_that_the_page_divides_has_the_size_that_it_says(tmp_path: Path, size: str, status: int) -> None:
    page = (ROOT / "actorc" / "docs" / "frames.md").read_text(encoding="utf-8")
    whole, divided = (part.partition("\n")[2].partition("```\n")[0] for part in page.split("```cpp")[1:])
    divided = divided.replace("{ ... }", "{ char first = waitNext(header); return first; }")
    text = whole.partition("ACTOR")[0] + divided.replace("SIZE(128)", f"SIZE({size})")
    (tmp_path / "fetch.cpp").write_text(compile_text(Source("fetch.actor.cpp", text), "state-machine", "fetch.cpp"))
    command = [COMPILERS[0], "-std=c++20", f"-I{ROOT}", "-fsyntax-only", "fetch.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
