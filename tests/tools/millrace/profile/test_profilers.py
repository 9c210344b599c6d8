"""What perf prints is read; where it cannot be used, it is said what to do; nothing stays behind."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path
from types import FrameType

import pytest

from millrace.common.failure import Failure
from millrace.profile import record
from millrace.profile.attribution import attribute
from millrace.profile.causes import CALLER, Attribution, Causes, Rule
from millrace.profile.names import qualified
from millrace.profile.sampler import Sampler, sampler
from millrace.profile.samples import Place, Profile
from millrace.profile.symbols import Frame, demangled, expand, paragraphs, source

# Of a run of millrace_bench: a sample in the program, one in the kernel, one with lost frame pointers.
SCRIPT = """
\t           4e27a (anonymous namespace)::follow+0xfa (/build/bench/millrace_bench)
\t           4e1a6 flow::actor::Actor<Frame, (flow::actor::Kind)0>::resumeActor+0x26 (/build/bench/millrace_bench)
\t           31c01 [unknown] (/usr/lib/x86_64-linux-gnu/libbenchmark.so.1.7.1)

\tffffffff8161e9ce __alloc_frozen_pages_noprof+0x1ae ([kernel.kallsyms])
\t           4e27a (anonymous namespace)::follow+0xfa (/build/bench/millrace_bench)

\t            ace0 _dl_new_object+0x90 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
\t756e696c2d34365f [unknown] ([unknown])

"""
HEADERS = """
  PHDR           0x000040 0x0000000000000040 0x0000000000000040 0x0002a0 0x0002a0 R   0x8
  LOAD           0x000000 0x0000000000000000 0x0000000000000000 0x03a100 0x03a100 R   0x1000
  LOAD           0x03a100 0x000000000003b100 0x000000000003b100 0x0c7bd0 0x0c7bd0 R E 0x1000
"""
BENCH = "/build/bench/millrace_bench"
LIBRARY = "/usr/lib/x86_64-linux-gnu/libbenchmark.so.1.7.1"
LOADER = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"


def test_samples_of_perf_are_read() -> None:
    parts = record.Parts()
    for file in (BENCH, LIBRARY, LOADER):
        parts.set(file, HEADERS)
    follow, kernel = "(anonymous namespace)::follow", "__alloc_frozen_pages_noprof"
    actor = "flow::actor::Actor<Frame, (flow::actor::Kind)0>::resumeActor"
    assert list(record.parse(SCRIPT.splitlines(), parts).weights) == [
        # A caller is where it will go on, less a byte.
        (Place(LIBRARY, 0x31C00, ""), Place(BENCH, 0x4F1A5, actor), Place(BENCH, 0x4F27A, follow)),
        (Place(BENCH, 0x4F279, follow), Place("[kernel.kallsyms]", None, kernel)),
        (Place(LOADER, 0xACE0, "_dl_new_object"),),
    ]


def test_what_has_no_file_keeps_the_name_that_the_profiler_gave() -> None:
    gone, vdso = Place("/nowhere/deleted.so", 1, "f"), Place("[vdso]", 2, "clock_gettime")
    frames = expand([gone, vdso])
    assert frames[gone] == (Frame("f", "", 0, "deleted.so"),)
    assert frames[vdso][0].name == "clock_gettime"


def test_constrained_functions_have_readable_names() -> None:
    constrained = "_ZN4flow4coro15CoroPromiseBaseIiNS0_9SignatureIJiEEEEnwEmQeqsrT0_11kFrameLimitLi0E"
    [name] = demangled([constrained])
    assert qualified(name) == "flow::coro::CoroPromiseBase::operator new"


def test_inlined_functions_of_an_address_are_read() -> None:
    lines = ["0x0001", "inner", "/a/x.h:12", "outer", "/a/x.cpp:3 (discriminator 2)", "0x0002", "??", "??:0"]
    assert paragraphs(lines) == [["inner", "/a/x.h:12", "outer", "/a/x.cpp:3 (discriminator 2)"], ["??", "??:0"]]
    assert source("/a/x.cpp:3 (discriminator 2)") == ("/a/x.cpp", 3)
    assert source("/elsewhere/build/clang/../../flow/core/frame.h:?") == ("flow/core/frame.h", 0)
    assert source("??:0") == ("", 0)


PROGRAM = """
#include <cstdlib>
inline __attribute__((always_inline)) int twice(int x) { int volatile y = x; return y + y; }
__attribute__((noinline)) int work(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += twice(i); return sum; }
int main(int, char** argv) { return work(std::atoi(argv[1])) == 1; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.cpp").write_text(PROGRAM)
    options = ["-O2", "-g", "-gdwarf-4", "-fno-omit-frame-pointer"]
    command = ["clang++-19", *options, folder / "program.cpp", "-o", folder / "program"]
    subprocess.run(command, check=True)
    return folder / "program"


def test_a_program_is_sampled_from_end_to_end(program: Path) -> None:
    """Where the kernel forbids it, it says what to do."""
    reason = record.why_not()
    if reason:
        assert "perf" in reason
        return
    profile = sampler("perf").complete([program, "100000000"])
    frames = expand(place for stack in profile.weights for place in stack)
    inside = [weight for stack, weight in profile.weights.items() if frames[stack[-1]][0].name == "work(int)"]
    assert sum(inside) > 0.5 * profile.total


def test_samples_share_the_time_of_an_item() -> None:
    profile = Profile()
    profile.add((Place("/usr/lib/x.so", 1, "f"),), 30)
    profile.add((Place("/usr/lib/x.so", 2, "g"),), 10)
    causes = Causes(("f",), (Rule("f", {"functions": ("f",)}), Rule(CALLER, {"functions": ("h",)})), ())
    spent = attribute(profile, Attribution(causes), 20.0)
    assert (spent.causes, spent.total) == ({"f": 15.0, "unmapped": 5.0}, 20.0)
    assert dict(spent.stacks) == {("f",): 15.0, ("g",): 5.0}
    assert spent.error(15.0) == pytest.approx(20 * (0.75 * 0.25 / 40) ** 0.5)


def fake(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_where_the_kernel_forbids_perf_it_says_which_setting_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "perf", "echo 'Access to performance monitoring is limited. perf_event_paranoid is 4' >&2; exit 255")
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = record.why_not()
    assert reason is not None
    assert "sudo sysctl kernel.perf_event_paranoid=1" in reason


def test_where_perf_fails_it_says_what_perf_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "perf", "echo 'event syntax error' >&2; exit 129")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert record.why_not() == "perf does not work here: event syntax error"
    fake(tmp_path, "perf", "exit 129")
    assert record.why_not() == "perf does not work here: exit code 129"


def test_where_there_is_no_profiler_it_says_who_installs_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert record.why_not() == "there is no perf: Debian has it as linux-perf"


def test_what_fails_under_perf_says_what_it_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "perf", "echo 'it is broken' >&2; exit 3")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="it is broken\nperf: exit code 3"):
        Sampler("perf", 1.0, "").complete(["true"])


def test_an_interrupt_leaves_neither_children_nor_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = shutil.which("sleep")
    fake(tmp_path, "perf", f"echo $$ > {tmp_path}/pid; exec {sleep} 60")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    turns_with_child = 0

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal turns_with_child
        turns_with_child += (tmp_path / "pid").exists()
        if turns_with_child == 2:  # at the first one, the process may still be inside the call that starts the child
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            record.record(["true"], print)
    finally:
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert list((tmp_path / "temporary").iterdir()) == []
