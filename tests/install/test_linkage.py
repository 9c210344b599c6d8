"""Functions of one file stay in it: two files of a program may have classes, functions and lambdas of equal names."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]
TEXT = """\
#include "flow/emitted/descriptor.h"
#include "flow/flow.h"
#include "flow/threads/on_loop.h"
#include "flow/loop/detail/posted.h"
#include "flow/sync/channel.h"
#include "flow/wait/detail/composed_operation.h"
using namespace flow;
namespace {
struct OwnJob : Posted {
    void send(Loop& home) {
        postTo<&OwnJob::arrive, &OwnJob::drop>(home, TaskPriority::DefaultDelay);
        queueAt<&OwnJob::arrive, &OwnJob::drop>(home, TaskPriority::DefaultDelay);
    }
    void arrive() {}
    void drop() {}
};
struct OwnAsk : ComposedOperation {
    void start(Channel<int>& channel, Completion<int> end) {
        end_ = end;
        waitFor<&OwnAsk::onAnswer>(channel.receive());
    }
    void onAnswer(Error error, int n) { end_(error, n); }
    Completion<int> end_;
};
struct OwnPart { int field; };
Future<int> ownCoroutine(Future<int> from) { co_return co_await from + 1; }
}
static Future<Void> ownFunction(UnitTestParameters const&) { return Void(); }
static void ownCaller(Loop& loop) { (void)onLoop(loop, [] { return 7; }); }
void use(Loop& loop, Channel<int>& channel, OwnPart& part) {
    OwnJob().send(loop);
    OwnAsk ask;
    ask.start(channel, Completion<int>::to<&OwnAsk::onAnswer>(ask));
    FieldDescriptor<&OwnPart::field, "a", "b", "c">::get(part);
    auto* test = &testing::runTestCase<&ownFunction>;
    (void)test(UnitTestParameters());
    ownCaller(loop);
    (void)ownCoroutine(1);
    FLOW_ASSERT_EQ(part.field, 1);
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_belongs_to_a_file_is_visible_in_no_other(compiler: str, tmp_path: Path) -> None:
    """gcc 12 takes a function template for global whose only argument is a pointer to a member of such a class."""
    (tmp_path / "x.cpp").write_text(TEXT, encoding="utf-8")
    command = [compiler, "-std=c++20", "-DFLOW_CHECKED=1", "-I", str(ROOT), "-c", "x.cpp", "-o", "x.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "-C", "x.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search(r" [tb] .*\bown", symbols), "it has functions of its own"
    assert re.findall(r"^.* [A-SU-Zuvw] .*\b[Oo]wn[A-Z].*$", symbols, re.MULTILINE) == []
