"""Each rule of tools/tidy.py, on a small tree that breaks it."""

from pathlib import Path

import pytest

import tidy
from mutantslib.mutant import Mutant


def findings(root: Path, files: dict[str, str], check=None) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tree = tidy.Tree.read(root)
    return [str(finding) for one in ([check] if check else tidy.CHECKS) for finding in one(tree)]


def including(target: str) -> str:
    return f'// Why.\n#pragma once\n#include "{target}"\n'


def test_an_empty_tree_is_clean(tmp_path: Path) -> None:
    assert findings(tmp_path, {}) == []


def test_a_file_that_does_not_belong_at_the_top_level(tmp_path: Path) -> None:
    assert findings(tmp_path, {"README.md": "", ".gitignore": "", "flow/x.txt": ""}) == []
    assert findings(tmp_path, {"some.whl": ""}) == ["some.whl:1: does not belong at the top level"]


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("flow/core/future.h", "flow/base/error.h"),
        ("flow/core/future.h", "flow/core/sav.h"),
        ("flow/combine/all.h", "flow/coro/promise_type.h"),
        ("net/tcp.h", "flow/combine/all.h"),
        ("net/tcp.h", "flow/trace/trace_event.h"),
        ("net/sim/sim_network.h", "flow/sim/world.h"),
        ("net/sim/sim_network.h", "net/transport.h"),
        ("flow/sync/lock.h", "flow/trace/code_probe.h"),
        ("flow/trace/trace_event.h", "flow/loop/loop.h"),
        ("flow/flow.h", "flow/sim/sim_loop.h"),
        ("flow/testing/runner.cpp", "flow/sim/sim_loop.h"),
        ("flow/combine/all.actor.cpp", "flow/actorcompiler.h"),
        ("tests/flow/core/future_test.cpp", "flow/sim/sim_loop.h"),
        ("bench/actors/net2.actor.cpp", "flow/flow.h"),
    ],
)
def test_includes_that_layers_allow(tmp_path: Path, file: str, target: str) -> None:
    assert findings(tmp_path, {file: including(target)}, tidy.check_layers) == []
    assert findings(tmp_path, {file: including(target)}, tidy.check_umbrellas) == []


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("flow/base/error.h", "flow/memory/arena.h"),
        ("flow/core/future.cpp", "flow/loop/loop.h"),
        ("flow/actor/choose.h", "flow/coro/awaiter.h"),
        ("flow/coro/awaiter.h", "flow/fiber/wait.h"),
        ("flow/fiber/wait.h", "flow/combine/all.h"),
        ("flow/sync/lock.h", "flow/tasks/task.h"),
        ("flow/tasks/task.h", "flow/sim/sim_loop.h"),
        ("flow/combine/all.h", "net/tcp.h"),
        ("net/tcp.h", "flow/sim/sim_loop.h"),
        ("net/tcp.h", "net/sim/sim_network.h"),
        ("flow/coro/coroutine.h", "flow/trace/trace_event.h"),
        ("flow/core/future.h", "flow/flow.h"),
        ("flow/core/future.h", "flow/actorcompiler.h"),
    ],
)
def test_includes_against_the_layers(tmp_path: Path, file: str, target: str) -> None:
    found = findings(tmp_path, {file: including(target)}, tidy.check_layers)
    assert len(found) == 1
    assert found[0].startswith(f"{file}:3: ")
    assert target in found[0]


@pytest.mark.parametrize(
    "file", ["flow/core/future.h", "flow/wait/detail/choose.h", "flow/combine/race.h", "tests/flow/a_test.cpp"]
)
def test_the_core_and_the_styles_share_what_is_in_detail(tmp_path: Path, file: str) -> None:
    text = "// Why.\nnamespace flow::detail {\nusing namespace flow::detail;\ndetail::Cell* cell;\n}\n"
    assert findings(tmp_path, {file: text}, tidy.check_detail) == []


@pytest.mark.parametrize(
    "file",
    [
        "flow/combine/all.h",
        "flow/threads/loop_pool.h",
        "flow/sim/world.cpp",
        "net/sim/host.cpp",
        "flow/diag/a.h",
        "bench/run.h",
    ],
)
@pytest.mark.parametrize(
    "line", ["detail::Cell* cell;", "using namespace flow::detail;", "namespace detail {", "namespace flow::detail {"]
)
def test_nothing_else_names_detail(tmp_path: Path, file: str, line: str) -> None:
    text = f'// Why.\n\n{line}\nTraceEvent("A").detail("Key", 1);\n'
    found = findings(tmp_path, {file: text}, tidy.check_detail)
    assert len(found) == 1
    assert found[0].startswith(f"{file}:3: ")


def test_an_include_beside_the_file_has_a_layer_too(tmp_path: Path) -> None:
    files = {"flow/core/future.h": including("../loop/loop.h"), "flow/loop/loop.h": "// Why.\n"}
    assert len(findings(tmp_path, files, tidy.check_layers)) == 1


def test_an_umbrella_of_flow_does_not_include_net(tmp_path: Path) -> None:
    assert len(findings(tmp_path, {"flow/flow.h": including("net/tcp.h")}, tidy.check_umbrellas)) == 1


@pytest.mark.parametrize("target", ["flow/flow.h", "flow/sim.h"])
@pytest.mark.parametrize(
    "file", ["tests/net/a_test.cpp", "bench/run.h", "tests/net/support.h", "tools/fuzzlib/prelude.h"]
)
def test_files_include_what_they_use_and_no_umbrella(tmp_path: Path, file: str, target: str) -> None:
    found = findings(tmp_path, {file: including(target)}, tidy.check_umbrellas)
    assert found == [f"{file}:3: includes the umbrella header {target}: include what the file uses"]


@pytest.mark.parametrize(
    "file",
    [
        "flow/sim.h",
        "flow/compat/flow/flow.h",
        "net/compat/fdbrpc/fdbrpc.h",
        "net/examples/echo.cpp",
        "tests/examples/hello/src/main.cpp",
        "tests/flow/flow_test.cpp",
        "tests/programs/locals.actor.cpp",
        "tests/net/a.actor.h",
    ],
)
def test_files_that_include_an_umbrella(tmp_path: Path, file: str) -> None:
    assert findings(tmp_path, {file: including("flow/flow.h")}, tidy.check_umbrellas) == []


def test_long_files(tmp_path: Path) -> None:
    files = {"flow/base/long.cpp": "\n" * 601, "flow/base/short.cpp": "\n" * 600}
    found = findings(tmp_path, files, tidy.check_file_sizes)
    assert found == ["flow/base/long.cpp:1: 601 lines, at most 600 are allowed"]


def cpp_function(lines: int) -> str:
    """In a class in a namespace, with a head of two lines and a block that could be taken for its end."""
    body = "        if (a) {\n        }\n" + "        a = 1;\n" * (lines - 5)
    return f"namespace n {{\nclass C : B {{\npublic:\n    int f(int a,\n          int b) {{\n{body}    }}\n}};\n}}\n"


def test_long_cpp_functions(tmp_path: Path) -> None:
    files = {"flow/base/a.h": cpp_function(70), "flow/base/b.h": cpp_function(71)}
    found = findings(tmp_path, files, tidy.check_function_sizes)
    assert found == ["flow/base/b.h:4: a function of 71 lines, at most 70 are allowed"]


def test_many_short_functions_are_no_long_one(tmp_path: Path) -> None:
    text = "struct S {\n" + "    S(int a)\n        : b(a) {\n        f();\n    }\n" * 40 + "};\n"
    assert findings(tmp_path, {"flow/base/a.h": text}, tidy.check_function_sizes) == []


def test_long_python_functions(tmp_path: Path) -> None:
    files = {"tools/a.py": "def f():\n" + "    a = 1\n" * 69, "tools/b.py": "def f():\n" + "    a = 1\n" * 70}
    found = findings(tmp_path, files, tidy.check_function_sizes)
    assert found == ["tools/b.py:1: a function of 71 lines, at most 70 are allowed"]


def test_nine_headers_of_ten_have_a_test(tmp_path: Path) -> None:
    files = {f"flow/core/h{i}.h": "" for i in range(10)}
    files |= {f"tests/flow/core/h{i}_test.cpp": "" for i in range(8)}
    files |= {"flow/core/detail/cell.h": "", "flow/flow.h": ""}
    found = findings(tmp_path, files, tidy.check_headers_have_tests)
    assert [line.split(":")[0] for line in found] == ["flow/core/h8.h", "flow/core/h9.h"]
    assert findings(tmp_path, {"tests/flow/core/h8.actor.cpp": ""}, tidy.check_headers_have_tests) == []


def test_headers_open_with_a_comment(tmp_path: Path) -> None:
    files = {
        "flow/core/a.h": "#pragma once\n\n// Why.\nint a;\n",
        "flow/core/b.h": "/* Why. */\n",
        "flow/core/c.h": "#pragma once\nint a; // no\n",
        "net/d.h": "",
    }
    found = findings(tmp_path, files, tidy.check_headers_say_what_they_are)
    assert [line.split(":")[0] for line in found] == ["flow/core/c.h", "net/d.h"]


def test_dead_headers(tmp_path: Path) -> None:
    files = {
        "flow/core/included.h": "",
        "flow/core/tested.h": "",
        "flow/core/dead.h": "",
        "flow/actor/emitted.h": "",
        "flow/core/a.cpp": '#include "flow/core/included.h"\n',
        "tests/flow/core/tested_test.cpp": "",
        "actorc/actorc/emit.py": '#include "flow/actor/emitted.h"\n',
        "flow/precompiled.h": "",
        "tests/CMakeLists.txt": 'target_precompile_headers(t PRIVATE "${PROJECT_SOURCE_DIR}/flow/precompiled.h")\n',
    }
    assert findings(tmp_path, files, tidy.check_dead_headers) == ["flow/core/dead.h:1: nothing includes this header"]


@pytest.mark.parametrize(
    ("module", "line", "allowed"),
    [
        ("parse/parser", "from actorc.parse.lexer import lex", True),
        ("parse/parser", "from actorc.source import Source", True),
        ("parse/parser", "from actorc import syntax, check", False),
        ("check/check", "import actorc.lower.lower", False),
        ("lower/lower", "from actorc.check.reach import Reach", True),
        ("emit/statemachine", "from actorc import syntax", True),
        ("emit/statemachine", "from actorc.parse.lexer import lex", False),
        ("report/report", "from actorc import __version__", True),
        ("syntax", "from actorc.parse.lexer import lex", False),
        ("__main__", "from actorc.parse.parser import parse", True),
    ],
)
def test_stages_import_only_stages_before_them(tmp_path: Path, module: str, line: str, allowed: bool) -> None:
    found = findings(tmp_path, {f"actorc/actorc/{module}.py": f"\n{line}\n"}, tidy.check_stages)
    assert [entry.split(" ")[0] for entry in found] == ([] if allowed else [f"actorc/actorc/{module}.py:2:"])


@pytest.mark.parametrize(
    ("file", "line", "allowed"),
    [
        ("actorc/driver", "from actorc.emit.emit import emit", True),
        ("actorc/driver", "import actorc_migrate.command", False),
        ("actorc/report/report", "    from actorc_frames import tables", False),
        ("actorc/parse/parser", "from actorc_migrate.edits import Edits", False),
        ("actorc/__main__", "    from actorc_migrate.command import main", True),
        ("actorc_frames/found", "from actorc_frames.layout import Layout", True),
        ("actorc_frames/compile", "from actorc.driver import analyse", True),
        ("actorc_frames/compile", "from actorc import driver", True),
        ("actorc_frames/compile", "from actorc import syntax", False),
        ("actorc_frames/compile", "import actorc.emit.emit", False),
        ("actorc_frames/compile", "from actorc_migrate.edits import Edits", False),
        ("actorc_migrate/convert", "from actorc.check import reach", True),
        ("actorc_migrate/convert", "from actorc.lower.tries import locals_of", False),
        ("actorc_migrate/convert", "from actorc import driver, lower", False),
        ("actorc_migrate/verify/build", "from actorc_frames.compile import Unit", True),
        ("actorc_migrate/verify/build", "from actorc_frames.layout import Layout", False),
        ("actorc_migrate/verify/build", "from ..edits import Edits", True),
    ],
)
def test_packages_beside_the_compiler_import_its_public_modules(
    tmp_path: Path, file: str, line: str, allowed: bool
) -> None:
    late = line.startswith(" ")
    text = f"def late():\n{line}\n" if late else f"\n{line}\n"
    found = findings(tmp_path, {f"actorc/{file}.py": text}, tidy.check_packages)
    assert [entry.split(" ")[0] for entry in found] == ([] if allowed else [f"actorc/{file}.py:2:"])


TREE_OF_TWO_KINDS = """
class Node: pass
class Statement(Node): pass
class If(Statement): pass
class Span: pass
"""


@pytest.mark.parametrize(
    ("last", "refuses"),
    [
        ("case _: raise unknown(node)", True),
        ("case _: self.leaf(node)", True),
        ("case _: pass", False),
        ("case _: return children(node)", False),
        ("case _: self.leaf(other)", False),
        ("case _ if node: raise unknown(node)", False),
        ("case Span(): raise unknown(node)", False),
    ],
)
@pytest.mark.parametrize("file", ["actorc/actorc/check/a.py", "actorc/actorc_migrate/a.py", "tests/model/a.py"])
def test_walkers_refuse_kinds_that_they_do_not_know(tmp_path: Path, file: str, last: str, refuses: bool) -> None:
    text = f"def f(node, other):\n    match node:\n        case syntax.If(): pass\n        {last}\n"
    files = {"actorc/actorc/syntax.py": TREE_OF_TWO_KINDS, file: text}
    found = findings(tmp_path, files, tidy.check_walkers)
    assert [entry.split(" ")[0] for entry in found] == ([] if refuses else [f"{file}:2:"])


def test_only_matches_of_nodes_have_to_refuse(tmp_path: Path) -> None:
    text = "def f(node):\n    match node:\n        case Span(): pass\n        case _: pass\n"
    files = {"actorc/actorc/syntax.py": TREE_OF_TWO_KINDS, "actorc/actorc/check/a.py": text}
    assert findings(tmp_path, files, tidy.check_walkers) == []


def test_folders_of_tools_are_named_after_their_programs(tmp_path: Path) -> None:
    good = {"tools/bench.py": "", "tools/benchlib/flame/graph.py": "", "tools/common/table.py": ""}
    assert findings(tmp_path, good, tidy.check_tools) == []
    for bad in ("tools/perf/a.py", "tools/bench/a.py", "tools/fuzzlib/a.py"):
        found = findings(tmp_path, {bad: ""}, tidy.check_tools)
        assert [entry.split(":")[0] for entry in found] == [bad]
        (tmp_path / bad).unlink()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("if (count < most)", ""),
        ("if (count <= most)", "the place of the mutant OneMore is not there"),
        ("while (count < most && count < most)", "the place of the mutant OneMore is there 2 times"),
    ],
)
def test_the_places_of_mutants_are_there_once(tmp_path: Path, text: str, wrong: str) -> None:
    def check(tree: tidy.Tree):
        return tidy.check_mutants(tree, [Mutant("OneMore", "flow/core/a.cpp", "count < most", "count <= most")])

    found = findings(tmp_path, {"flow/core/a.cpp": text, tidy.CATALOGUE: ""}, check)
    assert [each.partition(": ")[2].partition(": ")[0] for each in found] == ([wrong] if wrong else [])
    assert len(findings(tmp_path, {"flow/core/a.cpp": "", "tools/mutantslib/catalogue.py": ""}, check)) == 1


def test_headers_compile_alone(tmp_path: Path) -> None:
    files = {
        "flow/core/good.h": "#pragma once\n#include <vector>\ninline std::vector<int> v;\n",
        "flow/core/bad.h": "#pragma once\ninline std::vector<int> v;\n",
    }
    found = findings(tmp_path, files, tidy.check_headers_compile)
    assert len(found) == 1
    assert found[0].startswith("flow/core/bad.h:1: does not compile alone")


def test_headers_are_compiled_again_when_they_or_what_they_include_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    def compile_headers(_root: Path, _compiler: str, paths: tuple[str, ...], _options: object) -> str:
        compiled.extend(paths if len(paths) == 1 else ["together"])
        return "error" if paths == ("net/bad.h",) else ""

    def again(files: dict[str, str]) -> list[str]:
        compiled.clear()
        found = findings(tmp_path, files, tidy.check_headers_compile)
        assert [line.split(" ")[0] for line in found] == ["net/bad.h:1:"], "each time"
        return sorted(compiled)

    monkeypatch.setattr(tidy, "compile_headers", compile_headers)
    files = {
        "flow/core/inner.h": "// Why.\n",
        "flow/core/outer.h": '// Why.\n#define X\n#include "flow/core/inner.h"\n',
        "net/apart.h": "// Why.\n",
        "net/bad.h": "// Why.\n",
    }
    every = ["flow/core/inner.h", "flow/core/outer.h", "net/apart.h", "net/bad.h", "together", "together"]
    assert again(files) == every
    assert again({}) == ["net/bad.h"]
    assert again({"net/apart.h": "// Because.\n"}) == ["net/apart.h", "net/bad.h", "together", "together"]
    assert again({"flow/core/inner.h": "// Because.\n"}) == [name for name in every if name != "net/apart.h"]
    monkeypatch.setattr(tidy, "USERS_WARNINGS", ("-Wall",))
    assert again({}) == every


def test_headers_that_begin_with_all_of_flow_have_only_that_more(tmp_path: Path) -> None:
    files = {
        "flow/flow.h": "#pragma once\n#include <vector>\n#define FLOW_IS_HERE\n",
        "flow/compat/begins.h": '#pragma once\n#include "flow/flow.h"\n',
        "flow/compat/good.h": '#pragma once\n#include "flow/compat/begins.h"\ninline std::vector<int> v;\n',
        "flow/compat/bad.h": '#pragma once\n#include "flow/flow.h"\ninline std::map<int, int> m;\n',
        "flow/core/apart.h": "#pragma once\n#ifdef FLOW_IS_HERE\n#error is compiled with flow.h\n#endif\n",
    }
    [found] = findings(tmp_path, files, tidy.check_headers_compile)
    assert found.startswith("flow/compat/bad.h:1: does not compile alone")


def test_only_what_no_other_file_begins_with_is_compiled_alone(tmp_path: Path) -> None:
    files = {
        "flow/core/a.cpp": '// Why.\n#include "flow/core/a.h"\n#include "flow/core/second.h"\n',
        "flow/core/a.h": '#pragma once\n// Why.\n#include "inner.h"\n#include "flow/core/second.h"\n',
        "flow/core/inner.h": "#pragma once\n#include <vector>\n",
        "flow/core/second.h": "#pragma once\n",
        "flow/core/outer.h": '#pragma once\n#include "flow/core/middle.h"\n',
        "flow/core/middle.h": '#pragma once\n#define X\n#include "flow/core/behind.h"\n',
        "flow/core/behind.h": "#pragma once\n",
        "flow/core/one.h": '#pragma once\n#include "flow/core/other.h"\n',
        "flow/core/other.h": '#pragma once\n#include "flow/core/one.h"\n',
        "net/examples/x.cpp": '#include "net/examples/x.h"\n',
        "net/examples/x.h": "#pragma once\n",
        "tests/flow/core/second_test.cpp": '#include "flow/core/second.h"\n',
    }
    findings(tmp_path, files, tidy.check_layers)
    headers = [name for name in files if name.endswith(".h")]
    single = tidy.not_begun_with(tidy.Tree.read(tmp_path), headers)
    assert sorted(single) == [
        *("flow/core/behind.h", "flow/core/one.h", "flow/core/outer.h", "flow/core/second.h", "net/examples/x.h"),
    ]


@pytest.mark.parametrize(
    ("text", "warning", "found_in"),
    [
        ("struct A { A(int& b) : b(&b) {} int* b; };", "-Werror=shadow", "flow/core/bad.h:1: does not compile alone"),
        ("inline unsigned __int128 i;", "-Werror=pedantic", "flow/core/bad.h:1: does not compile alone"),
        ("class A { int b = 0; };", "-Wunused-private-field", "flow/flow.h:1: clang++-19 does not compile all headers"),
    ],
)
def test_headers_do_not_warn_users_of_either_compiler(tmp_path: Path, text: str, warning: str, found_in: str) -> None:
    files = {
        "flow/actor/keywords.h": "#pragma once\n#define state\n",
        "flow/core/bad.h": f"#pragma once\n{text}\n",
        "flow/core/good.h": "#pragma once\ninline int state;\n",
    }
    found = findings(tmp_path, files, tidy.check_headers_compile)
    assert len(found) == 1
    assert found[0].startswith(found_in)
    assert warning in found[0]


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("auto a = co_await f(\n    c ? g()\n      : h());", [1]),
        ("co_await (c ? a : T{});", [1]),
        ('co_await open(c ? name + "x" : name);', [1]),
        ("co_await delay(c ? 1 : 2);", []),
        ("co_await race(delay(c ? 1 : 2), f());", []),
        ("co_await all(n, [&](int i) { return i ? f() : g(); });", []),
        ("co_await f(a); // c ? g() : h()\nb = c ? g() : h();", []),
        ('co_await f("c ? g() : h()");', []),
    ],
)
def test_no_branch_of_a_conditional_in_a_co_await_makes_an_object(tmp_path: Path, code: str, lines: list[int]) -> None:
    found = findings(tmp_path, {"net/a.cpp": code + "\n"}, tidy.check_conditional_awaits)
    assert found == [
        f"net/a.cpp:{line}: gcc 12 evaluates both branches in a co_await: choose before it" for line in lines
    ]


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("auto start = std::chrono::steady_clock::now();", "now()"),
        ("using Clock = std::chrono::high_resolution_clock;", "now()"),
        ("seconds = std::time(nullptr);", "now()"),
        ("seconds = time(0);", "now()"),
        ("::clock_gettime(CLOCK_REALTIME, &time);", "now()"),
        ("gettimeofday(&time, nullptr);", "now()"),
        ("auto ticks = std::clock();", "now()"),
        ("auto cycles = __builtin_ia32_rdtsc();", "now()"),
        ("std::tm* day = localtime(&seconds);", "now()"),
        ("std::random_device device;", "deterministicRandom()"),
        ("int die = rand() % 6;", "deterministicRandom()"),
        ("std::srand(1);", "deterministicRandom()"),
        ("std::mt19937 random;", "DeterministicRandom"),
        ("std::uniform_int_distribution<int> die(1, 6);", "DeterministicRandom"),
        ("std::shuffle(a.begin(), a.end(), random);", "DeterministicRandom"),
        ("std::unordered_map<int, int> counts;", "std::map"),
        ("std::unordered_set<std::string> names;", "std::map"),
        ("using namespace std; unordered_set<int> names;", "std::map"),
        ("std::map<Process*, int> counts;", "a number or a name"),
        ("std::set<Process const*> all;", "a number or a name"),
        ("std::map<int, int, std::less<int*>> counts;", "a number or a name"),
        ("std::map<std::pair<int, Process*>, int> counts;", "a number or a name"),
        ("std::set<Reference<Session>> open;", "a number or a name"),
        ("return std::hash<T*>()(object);", "a number or a name"),
        ("std::this_thread::sleep_for(pause);", "delay()"),
        ("std::thread::id own;", "delay()"),
        ("std::thread worker(work);", "delay()"),
        ("auto result = std::async(work);", "delay()"),
        ("auto self = ::pthread_self();", "delay()"),
        ("place(random.randomInt(0, 9), random.randomInt(0, 9));", "one by one"),
        ("double x = random.random01() - other->random01();", "one by one"),
        ("if (a.coinflip() == b.coinflip())", "one by one"),
    ],
)
def test_what_no_two_runs_need_have_alike(tmp_path: Path, line: str, instead: str) -> None:
    found = findings(tmp_path, {"flow/sim/a.cpp": f"\n{line}\n"}, tidy.check_nondeterminism)
    assert len(found) == 1
    assert found[0].startswith("flow/sim/a.cpp:2: ")
    assert instead in found[0]
    for excused in (f"{line} // nondeterminism: a reason", f"// All of it.\n// nondeterminism: a reason\n{line}"):
        assert findings(tmp_path, {"flow/sim/a.cpp": excused}, tidy.check_nondeterminism) == []
    reason = f"{line} // nondeterminism:\n"
    assert len(findings(tmp_path, {"flow/sim/a.cpp": reason}, tidy.check_nondeterminism)) == 1
    assert findings(tmp_path, {"flow/sim/a.cpp": "", "tests/a_test.cpp": line}, tidy.check_nondeterminism) == []


def test_what_all_runs_have_alike(tmp_path: Path) -> None:
    code = """\
#include <unordered_map>
// std::random_device, and rand() where there is none
double time(int part);
double start = world.time(0), local = clock.at(time(part));
std::string text = "std::unordered_map<int, int>";
std::map<int, Process*> byId;
std::map<std::pair<int, int>, Reference<Session>> byEnds;
Clock const& clock() const;
std::map<std::string, std::vector<Process*>> byName;
if (random.coinflip())
    at += random.random01();
for (int i = random.randomInt(0, 4); i < random.randomInt(4, 8) && random.coinflip(); ++i)
    second = random.coinflip() ? random.random01() : -random.random01();
while (random.coinflip())
    half += random.random01();
strand();
int number = operand(random.randomInt(0, 2));
"""
    assert findings(tmp_path, {"net/sim/a.h": code}, tidy.check_nondeterminism) == []


def test_keys_of_two_lines(tmp_path: Path) -> None:
    code = "std::map<\n    std::pair<int, Process*>, int> counts;\n"
    found = findings(tmp_path, {"flow/sim/a.cpp": code}, tidy.check_nondeterminism)
    assert [one.split(": ")[0] for one in found] == ["flow/sim/a.cpp:1"]


def test_an_expression_of_two_lines_that_draws_twice(tmp_path: Path) -> None:
    code = "place(random.random01(),\n      random.random01());\n"
    found = findings(tmp_path, {"flow/sim/a.cpp": code}, tidy.check_nondeterminism)
    assert [one.split(": ")[0] for one in found] == ["flow/sim/a.cpp:2"]
