"""millrace port with clang: files that it must refuse for a reason, and files that only look as if."""

from __future__ import annotations

import json

import pytest

from millrace.port import reading
from millrace.port.report import as_text
from millrace.port.scan import Scan, scan
from millrace.port.vocabulary import Vocabulary

pytest.importorskip("clang.cindex")

# In place of the project's headers, which clang would read for seconds.
STAND_INS = {
    "flow/flow.h": """\
#pragma once
namespace flow {
struct Void {};
template <class T> struct Future { Future(T) {} };
template <class T> struct Promise { void send(T) {} };
struct Arena { int getSize() const { return 0; } };
struct Error { int code; template <class T> operator Future<T>() const; };
Error timed_out();
Future<Void> delay(double);
}
using namespace flow;
""",
    "flow/actorcompiler.h": """\
#define ACTOR
#define state
#define loop while (true)
#define choose
#define when(...) if (__VA_ARGS__; true)
template <class T> T wait(flow::Future<T>);
""",
}
FLOW = '#include "flow/flow.h"\n'
FILES = {
    "member.cpp": FLOW + "bool f(Arena& arena) { return arena.hasFree(8, nullptr); }\n",
    "arguments.cpp": FLOW + "void f(Promise<int> p) { p.send(1, 2, 3); }\n",
    "macro.cpp": FLOW + 'void f() { INSTRUMENT_ALLOCATE("row"); }\n',
    "error.cpp": FLOW + "Future<Void> f() { return not_committed(); }\n",
    "wrong.h": FLOW + "inline bool g(Arena& arena) { return arena.hasFree(8, nullptr); }\n",
    "header.cpp": '#include "wrong.h"\n',
    "own.h": FLOW + "struct Own { bool hasFree(int) { return true; } bool isClient(); };\n",
    "own.cpp": '#include "own.h"\nbool f(Own* own) { return own->hasFree(1) && own->isClient(); }\n',
    "last.actor.cpp": FLOW
    + """\
#include "flow/actorcompiler.h"
ACTOR Future<Void> tidy(Arena arena) {
    state bool isFree = arena.hasFree(1, nullptr);
    wait(delay(1));
    return Void();
}
""",
    "fine.actor.cpp": FLOW
    + """\
#include "flow/actorcompiler.h"
ACTOR Future<int> later(Future<int> what) {
    state int value = wait(what);
    loop { choose { when(wait(delay(1))) { return value; } } }
}
""",
    "made.cpp": FLOW + '#include "app/Made.h"\n',
    "lost.cpp": FLOW + '#include "flow/TDMetric.actor.h"\nInt64MetricHandle bytes;\n',
    "CMakeLists.txt": "configure_file(Made ${CMAKE_BINARY_DIR}/app/Made.h)\n",
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    folder, headers = tmp_path_factory.mktemp("code"), tmp_path_factory.mktemp("headers")
    (headers / "flow").mkdir()
    for name, text in STAND_INS.items():
        (headers / name).write_text(text, encoding="utf-8")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = [name for name in FILES if name.endswith(".cpp")]
    entries = [{"directory": str(folder), "file": name, "arguments": ["clang++", "-I.", name]} for name in sources]
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    (folder / "unbuilt.cpp").write_text(FLOW, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "compat_folders", lambda: (headers,))
        return scan(folder, Vocabulary.read())


def test_each_file_is_called_wrong_for_its_reason(result: Scan) -> None:
    messages = {file: text for text, use in result.refused.items() for file in use.files}
    assert "hasFree" in messages["member.cpp"] and "Arena" in messages["member.cpp"]
    assert "argument" in messages["arguments.cpp"] or "matching" in messages["arguments.cpp"]
    assert "INSTRUMENT_ALLOCATE" in messages["macro.cpp"]
    assert "not_committed" in messages["error.cpp"]
    assert "hasFree" in messages["wrong.h"]
    assert "hasFree" in messages["last.actor.cpp"]
    refused = {"member.cpp", "arguments.cpp", "macro.cpp", "error.cpp", "wrong.h", "last.actor.cpp", "lost.cpp"}
    assert result.needing() == refused
    assert all(use.advice for use in result.refused.values())


def test_what_only_has_the_name_is_no_fault(result: Scan) -> None:
    assert {"own.h", "own.cpp", "fine.actor.cpp"} <= result.reading.clean()


def test_it_says_how_it_has_read_each_file(result: Scan) -> None:
    assert result.reading.by_names == {
        "made.cpp": "it includes app/Made.h, which its own build makes",
        "unbuilt.cpp": "no compile_commands.json has its flags",
    }
    assert "read with clang: 9 files" in as_text(result, every=False)
    assert "1 file: no compile_commands.json has its flags" in as_text(result, every=False)
