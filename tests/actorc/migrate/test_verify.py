"""`actorc migrate --verify`: what is migrated is compiled, run and called before and after; faults are planted in what
it becomes, and must be found."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from actorc.records import replace
from actorc.source import Source
from actorc_frames import compile as compile_
from actorc_migrate.arguments import parse
from actorc_migrate.command import main
from actorc_migrate.project import Project
from actorc_migrate.settings import Settings
from actorc_migrate.verify import build
from actorc_migrate.verify import verify as verifier
from actorc_migrate.verify.drive import driven_in, not_driven_in
from actorc_migrate.verify.tree import Tree
from actorc_migrate.verify.verify import Verification, as_text, verify
from common.precompiled import precompiled

ROOT = Path(__file__).parents[3]
HEADER = """\
#if defined(NO_INTELLISENSE) && !defined(TWICE_ACTOR_G_H)
#define TWICE_ACTOR_G_H
#include "app/twice.actor.g.h"
#elif !defined(TWICE_ACTOR_H)
#define TWICE_ACTOR_H
#include "flow/sim.h"
#include "flow/actorcompiler.h"
using namespace flow;
ACTOR static Future<int> twice(Future<int> f) {
    int x = wait(f);
    return 2 * x;
}
#include "flow/unactorcompiler.h"
#endif
"""
LIBRARY = """\
#include "app/twice.actor.h"
#include <cstdio>
#include "flow/actorcompiler.h"

namespace app {
namespace {
ACTOR Future<int> sums(FutureStream<int> numbers, Future<Void> stop) {
    state int sum = 0;
    try {
        loop choose {
            when(int n = waitNext(numbers)) { sum += n; }
            when(wait(stop)) { return sum; }
        }
    } catch (Error& e) {
        if (e.code() == error_code_actor_cancelled)
            throw;
        wait(delay(1));
        return -sum;
    }
}
} // namespace

ACTOR UNCANCELLABLE Future<Void> stubborn(Promise<int> p, std::string const& text, double d) {
    wait(delay(d));
    p.send(text.size());
    return Void();
}

ACTOR void alone(Future<int> f, bool b) {
    int n = wait(twice(f));
    std::printf("%d %d\\n", n, b);
}

Future<int> uses() {
    return sums(FutureStream<int>(), stubborn(Promise<int>(), "text", 1));
}
} // namespace app
"""
PROGRAM = """\
#include "app/twice.actor.h"
#include <cstdio>
#include "flow/actorcompiler.h"

ACTOR Future<Void> counts(int n) {
    state int i = 0;
    for (; i < n; i++) {
        wait(delay(1));
        std::printf("%d at %g\\n", i, now());
    }
    return Void();
}

int main() {
    SimLoop loop;
    loop.run(counts(3));
    std::printf("%d\\n", loop.run(twice(21)));
}
"""


def belongs_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `root` the folder of the headers that belong to actorc."""
    for module in (compile_, build):
        monkeypatch.setattr(module, "own_headers", lambda: str(root))


@cache
def flags() -> tuple[str, ...]:
    """The library that is installed here is checked. Of its headers the longest is read once. The tool takes this for
    optimised, but clang does little."""
    optimised = ("-O1", "-Xclang", "-O0", "-DFLOW_CHECKED=1")
    command = [compile_.compilers()[0], "-std=c++20", *optimised, *compile_.DEBUG, *compile_.DESCRIBE_FRAMES]
    installed = f"-I{ROOT}/build/prefix/include/millrace"
    return ("-I.", *optimised, *precompiled(*command, installed, headers=("flow/sim.h",)))


@pytest.fixture
def tree(tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    belongs_to(prefix / "include" / "millrace", monkeypatch)  # its library is built already
    monkeypatch.chdir(tmp_path)
    app = tmp_path / "app"
    app.mkdir()
    (app / "twice.actor.h").write_text(HEADER)
    (app / "library.actor.cpp").write_text(LIBRARY)
    (app / "program.actor.cpp").write_text(PROGRAM)
    return tmp_path


def verified(before: str = "", after: str = "", commands: tuple[str, ...] = ()) -> Verification:
    """Verifies the tree in the working directory, with `before` replaced in its new texts."""
    result = Project(["app"], Settings(), lambda text: None).migrated()
    assert result.is_whole
    if before:
        assert any(before in file.text for file in result.files)
        result.files = [replace(file, text=file.text.replace(before, after)) for file in result.files]
    return verify(result, flags(), commands, 2)


def test_no_difference(tree: Path) -> None:
    found = verified(commands=("ls {tree}/app | wc -l", "cat $ACTORC_TREE/app/*.h | grep -c 'return 2'"))
    assert as_text(found).endswith("no difference\n"), as_text(found)
    assert (found.compiled, found.programs, found.commands) == (2, ["app/program.actor.cpp"], 2)
    assert sorted(found.actors) == ["app::alone", "app::stubborn", "app::sums"]
    assert found.uncalled == [("counts", "in programs"), ("twice", "in headers")]
    assert "2 actors not called: 1 in programs, 1 in headers" in as_text(found)
    frames = {each.actor: (each.before, each.after) for each in found.frames}
    assert all(before > 0 and after > 0 for before, after in frames.values())
    assert {"app::sums", "counts"} <= set(frames)
    assert sorted(os.listdir(tree / "app")) == ["library.actor.cpp", "program.actor.cpp", "twice.actor.h"]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("sum += n;", "sum -= n;", "app::sums, seed"),  # called
        pytest.param("co_return -sum;", "co_return sum;", "+result: ", marks=pytest.mark.long),  # in the handler
        ("throw caught;", "co_return 4711;", "cancelled after"),
        ("printf(\"%d at %g\\n\", i, now())", "printf(\"%d\\n\", i)", "-0 at 1"),  # a program
    ],
)  # fmt: skip
def test_planted_faults(tree: Path, before: str, after: str, shown: str) -> None:
    (tree / "app" / ("library.actor.cpp" if "printf" in before else "program.actor.cpp")).unlink()
    found = verified(before, after)
    assert found.findings
    assert shown in as_text(found)


def test_what_does_not_compile_shows_the_first_error(tree: Path) -> None:
    (tree / "app" / "program.actor.cpp").unlink()
    [finding] = verified("co_return -sum;", "co_return sun;").findings
    assert finding.what == "does not compile when it is migrated"
    assert "app/library.cpp:" in finding.text
    assert "sun" in finding.text
    assert "/tree/" not in finding.text


def test_what_does_not_compile_before_is_said(tree: Path) -> None:
    (tree / "app" / "program.actor.cpp").unlink()
    library = tree / "app" / "library.actor.cpp"
    library.write_text(library.read_text().replace("p.send(text.size());", "p.sendAll();"))
    [finding] = verified().findings
    assert finding.what == "does not compile as it is"
    assert "sendAll" in finding.text


def test_commands_that_end_otherwise(tree: Path) -> None:
    (tree / "app" / "library.actor.cpp").unlink()
    [finding] = verified(commands=("test -e app/program.actor.cpp",)).findings
    assert finding.what == "ends with exit code 0 before and 1 after"


def test_a_command_that_fails_before_and_after_is_no_evidence(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "app" / "library.actor.cpp").unlink()
    line = ["app", "--write", "--jobs=2", "--verify", "--test", "echo lost; exit 7", "--", *flags()]
    assert main(line) == 1
    said = capsys.readouterr().err
    assert (
        "echo lost; exit 7: ends with exit code 7 before and after: a test that fails is no evidence\n    lost\n"
        in said
    )
    assert said.endswith("no difference, and 1 run that proved nothing\n")
    assert (tree / "app" / "program.actor.cpp").exists()


def test_a_program_that_does_not_end_is_no_evidence(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "app" / "library.actor.cpp").unlink()
    program = tree / "app" / "program.actor.cpp"
    program.write_text(program.read_text().replace("SimLoop loop;", "SimLoop loop; for (;;) std::fflush(stdout);"))
    monkeypatch.setattr(verifier, "SECONDS", 0.5)
    found = verified()
    assert not found.is_passed
    assert found.programs == []
    assert "app/program.actor.cpp: does not end within 0.5 s, before and after" in as_text(found)


def test_nothing_is_written_if_something_differs(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "app" / "library.actor.cpp").unlink()
    line = ["app", "--write", "--jobs=2", "--verify", "--test"]
    assert main([*line, "ls app", "--", *flags()]) == 1
    assert "+program.cpp" in capsys.readouterr().err
    assert (tree / "app" / "program.actor.cpp").exists()
    assert main([*line, "ls app | wc -l", "--", *flags()]) == 0
    captured = capsys.readouterr()
    assert captured.err.endswith("no difference\n")
    assert "frames, in bytes" in captured.out
    assert not (tree / "app" / "program.actor.cpp").exists()


def test_what_is_included_through_a_link(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "app" / "library.actor.cpp").unlink()
    program = tree / "app" / "program.actor.cpp"
    program.write_text(program.read_text().replace("app/twice", "api/twice"))
    (tree / "api").mkdir()
    (tree / "api" / "twice.actor.h").symlink_to("../app/twice.actor.h")
    assert main([".", "--write", "--jobs=2", "--verify", "--", *flags()]) == 0
    assert "verified: 1 file compile before and after\n" in capsys.readouterr().err
    assert os.readlink(tree / "api" / "twice.h") == "../app/twice.h"


def test_a_runtime_that_is_not_installed_is_compiled_as_the_source_is_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "library"
    for name in ("flow/flow.h", "flow/fiber/x.cpp", "flow/parallel/x.cpp", "flow/sim_main.cpp", "flow/core/x.cpp"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("#error not a part of it\n")
    (root / "flow" / "core" / "x.cpp").write_text("int number() { return NUMBER; }\n")
    source = tmp_path / "program" / "program.cpp"
    source.parent.mkdir()
    source.write_text("int number();\nint main() { return number(); }\n")
    belongs_to(root, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(number: int) -> int:
        with build.temporary_folder() as folder:
            tree = Tree([str(source)], folder)
            builder = build.Builder(tree, [f"-DNUMBER={number}"], folder, 1)
            made = builder.compile(str(source), tree.copy_of(str(source)), emitted=False)
            program = builder.link([made], str(source))
            assert program is not None
            return subprocess.run([program], check=False).returncode

    def kept() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.o")}

    assert run(1) == 1
    first = kept()
    assert [run(1), run(2)] == [1, 2]
    assert first.items() < kept().items()
    assert len(kept()) == 2

    monkeypatch.setattr(build, "_KEPT_RUNTIMES", 2)
    assert [run(1), run(3)] == [1, 3]
    assert first.items() < kept().items(), "the runtime of 2 was used before that of 1"
    assert len(kept()) == 2


def test_wrong_arguments() -> None:
    with pytest.raises(SystemExit) as exit_:
        parse(["app", "--test", "true"])
    assert exit_.value.code == 100
    assert parse(["app", "--verify", "--", "-I.", "--", "-DX"]).flags == ("-I.", "--", "-DX")
    assert parse(["app", "--verify"]).flags is None


def test_which_actors_are_called() -> None:
    text = """\
namespace a::b { namespace { ACTOR Future<int> one(int n, Future<std::string> const& f) { wait(delay(1)); return n; } }
inline namespace c { ACTOR void two() { wait(delay(1)); } } }
ACTOR Future<Void> three(Future<Thing> f) { wait(success(f)); return Void(); }
ACTOR template <class T> Future<Void> four(Future<int> f) { wait(success(f)); return Void(); }
struct S { ACTOR static Future<Void> five(Future<int> f) { wait(success(f)); return Void(); } };
ACTOR Future<Void> six(int* n) { wait(delay(1)); return Void(); }
ACTOR Future<Void> declared(int n);
"""
    source = Source("x.actor.cpp", text)
    assert not_driven_in(source) == [
        ("three", "with parameters that cannot be made up"),
        ("four", "templates"),
        ("five", "members of classes"),
        ("six", "with parameters that cannot be made up"),
    ]
    found = driven_in(source)
    assert [(each.name, each.types) for each in found] == [
        ("::a::b::one", ("int", "Future<std::string>")),
        ("::a::b::c::two", ()),
    ]
