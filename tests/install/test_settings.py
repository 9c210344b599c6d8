"""A program that is compiled otherwise than the runtime must not link: it would lose waiters, or write past cells."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '#include "flow/core/future.h"\nint main() { flow::Promise<int> promise; promise.send(1); }\n'
COMPILER, OTHER = "g++", "clang++-19"
FLAGS = ("-std=c++20", "-O2", f"-I{ROOT}", "-c")


# A chain of coroutines of two translation units ends with a value, with an error and by a cancel, on a small stack.
CHAIN = """
#include "flow/core/future.h"
#include "flow/coro/coroutine.h"
#include <cstdlib>
#include <pthread.h>
using namespace flow;
Future<int> otherLink(Future<int> next);
#ifdef OTHER
Future<int> otherLink(Future<int> next) {
    co_return co_await next + 1;
}
#else
static Future<int> link(Future<int> next) {
    co_return co_await next + 1;
}
static Future<int> propagatingLink(Future<int> next, Propagate) {
    co_return co_await next + 1;
}
static void* runAll(void*) {
    constexpr int kLinks = 1'000'000;
    for (int end = 0; end < 3; ++end) {
        Promise<int> promise;
        Future<int> last = promise.getFuture();
        for (int i = 0; i < kLinks; ++i)
            last = i % 3 == 0 ? link(last) : i % 3 == 1 ? otherLink(last) : propagatingLink(last, {});
        if (end == 0)
            promise.send(0);
        else if (end == 1)
            promise.sendError(timed_out());
        else
            last.cancel();
        if (end == 0 ? last.get() != kLinks : last.getError() != (end == 1 ? timed_out() : actor_cancelled()))
            std::abort();
    }
    return nullptr;
}
int main() {
    pthread_attr_t small;
    pthread_t thread;
    if (pthread_attr_init(&small) || pthread_attr_setstacksize(&small, 256 * 1024) ||
        pthread_create(&thread, &small, runAll, nullptr))
        return 1;
    pthread_join(thread, nullptr);
}
#endif
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of what a promise needs."""
    folder = tmp_path_factory.mktemp("runtime")
    sources = [path for layer in ("diag", "base", "memory", "core") for path in (ROOT / "flow" / layer).glob("*.cpp")]
    for source in sources:
        subprocess.run([COMPILER, *FLAGS, source, "-o", folder / f"{source.stem}.o"], check=True)
    library = folder / "runtime.a"
    subprocess.run(["ar", "rcs", library, *(folder / f"{source.stem}.o" for source in sources)], check=True)
    return library


def link(runtime: Path, folder: Path, *settings: str, compiler: str = COMPILER) -> str:
    """What the linker says of a program with these settings, of this compiler, and a runtime without them."""
    (folder / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    program = folder / "main.o"
    subprocess.run([compiler, *FLAGS, *settings, folder / "main.cpp", "-o", program], check=True)
    linked = subprocess.run(
        [COMPILER, program, runtime, "-o", folder / "program"], capture_output=True, text=True, check=False
    )
    assert (linked.returncode != 0) == (bool(settings) or compiler != COMPILER)
    return linked.stderr


def test_settings_that_differ_do_not_link(runtime: Path, tmp_path: Path) -> None:
    assert "compiledByGccAndChecked1" in link(runtime, tmp_path, "-DFLOW_CHECKED=1")


def test_a_program_of_another_compiler_does_not_link(runtime: Path, tmp_path: Path) -> None:
    """Clang takes it that some functions keep all registers, which gcc's do not."""
    said = link(runtime, tmp_path, compiler=OTHER)
    assert "compiledByClangAndChecked0" in said
    assert "[abi:rare]" in said


def test_functions_that_keep_registers_are_not_exported(tmp_path: Path) -> None:
    """The dynamic linker would not keep them when it looks such a function up at its first call."""
    (tmp_path / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "main.o"
    subprocess.run([OTHER, *FLAGS, "-fPIC", tmp_path / "main.cpp", "-o", program], check=True)
    symbols = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True).stdout
    rare = [line for line in symbols.splitlines() if "B4rare" in line]
    assert rare
    assert all("HIDDEN" in line for line in rare)


def test_equal_settings_link(runtime: Path, tmp_path: Path) -> None:
    assert link(runtime, tmp_path) == ""


NO_SIBLING_CALLS = ["-O0", "-Og", "-O1", "-fno-optimize-sibling-calls", "--coverage", "-finstrument-functions"]


@pytest.mark.parametrize(
    ("main", "other"),
    [
        pytest.param(*pair, marks=[] if level in ("-O0", "--coverage") else pytest.mark.long)
        for level in NO_SIBLING_CALLS
        for pair in ((level, "-O2"), ("-O2", level))
    ],
)
def test_long_chains_need_no_stack_however_each_part_is_compiled(
    runtime: Path, tmp_path: Path, main: str, other: str
) -> None:
    """Below -O2, and with some other options, gcc makes no sibling calls, and has no macro that says so."""
    (tmp_path / "chain.cpp").write_text(CHAIN, encoding="utf-8")
    objects = []
    for name, flags in (("main", (main,)), ("other", (other, "-DOTHER"))):
        objects.append(tmp_path / f"{name}.o")
        subprocess.run([COMPILER, *FLAGS, *flags, "chain.cpp", "-o", objects[-1]], check=True, cwd=tmp_path)
    program = tmp_path / "chain"
    subprocess.run([COMPILER, "--coverage", *objects, runtime, "-pthread", "-o", program], check=True)
    subprocess.run([program], check=True, cwd=tmp_path, timeout=60)


WIDE = """
#include "flow/tasks/generator.h"
struct alignas(128) Wide { double values[16]; };
struct alignas(64) Line { double values[8]; };
void use(void*);
using namespace flow;
Future<int> future(Future<int> f) { KIND local; use(&local); co_await f; use(&local); co_return 1; }
Task<int> task(Context, Future<int> f) { KIND local; use(&local); co_await f; use(&local); co_return 1; }
Fork<int> fork(Context, Future<int> f) { KIND local; use(&local); co_await f; use(&local); co_return 1; }
Generator<int> generator() { KIND local; use(&local); co_yield 1; use(&local); }
AsyncGenerator<int> asyncGenerator(Context) { KIND local; use(&local); co_yield 1; use(&local); }
"""


@pytest.mark.parametrize(("kind", "is_refused"), [("Wide", True), ("Line", False)])
def test_locals_that_no_frame_can_hold_are_refused(tmp_path: Path, kind: str, is_refused: bool) -> None:
    """With the flags that pkg-config gives."""
    (tmp_path / "wide.cpp").write_text(WIDE, encoding="utf-8")
    command = [OTHER, *FLAGS, f"-DKIND={kind}", "wide.cpp", "-o", "wide.o"]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    refused = compiled.stderr.count("a local of this coroutine is aligned to more than 64 bytes: hold it by pointer")
    assert refused == (5 if is_refused else 0), compiled.stderr
    assert (compiled.returncode != 0) == is_refused


@pytest.mark.parametrize("compiler", [COMPILER, OTHER])
@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["-fno-exceptions"], "compile this file without -fno-exceptions"),
        (["-ffast-math"], "add -fno-finite-math-only behind -ffast-math"),
        (["-std=c++17"], "flow needs C++20: compile with -std=c++20"),
        (["-ffast-math", "-fno-finite-math-only"], None),
    ],
)
def test_options_that_break_the_runtime_are_refused(
    tmp_path: Path, compiler: str, options: list[str], advice: str | None
) -> None:
    (tmp_path / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    compiled = subprocess.run(
        [compiler, *FLAGS, *options, "main.cpp", "-o", "main.o"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (compiled.returncode != 0) == (advice is not None)
    assert advice is None or advice in compiled.stderr.split("error:", 2)[1]
    assert compiled.stderr.count("error:") <= 2, "no errors that follow from it"
