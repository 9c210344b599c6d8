"""The emitted text: what is kept, on which lines it stands, what the declarations become. The programs of the folder
tests/programs show that it compiles."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from back import BACKENDS, PROGRAMS, emitted, one_blank, placed
from front import sound

from actorc.check.forward import ENUMS, HEADERS
from actorc.emit.emit import emit

ROOT = Path(__file__).parents[2]

SIMPLE = """\
ACTOR Future<int> f(Future<int> a, int k) {
    state int sum = k;
    int x = wait(a);
    sum += x;
    wait(delay(1.0));
    return sum;
}
"""

# ---------------------------------------------------------------------------------------------------------------
# Outside actors


@pytest.mark.parametrize("backend", BACKENDS)
def test_text_outside_actors_is_kept(backend: str) -> None:
    before = '// ACTOR in a comment\r\n\tint a = 1\'000;\n#if 0\n}}\n#endif\nauto r = R"x(ACTOR ")x";\n'
    after = "\n\n#define LAST 1 \\\n    + 2\n  int z;   // no line end after this"
    output = emitted(before + SIMPLE + after, backend)
    assert before in output
    assert output.endswith(after)


def test_first_lines() -> None:
    lines = emitted("int x;\n").split("\n")
    assert lines[0] == "#define POST_ACTOR_COMPILER 1"
    assert lines[-3:] == ['#line 1 "test.actor.cpp"', "int x;", ""]


def test_byte_order_mark_stays_first() -> None:
    output = emitted("\ufeffint x;\n")
    assert output.startswith("\ufeff#define")
    assert output.count("\ufeff") == 1


def test_warnings_are_silenced_in_sources_only() -> None:
    assert "#pragma" in emitted("int x;\n")
    assert "#pragma" not in emitted("int x;\n", output="out.g.h")


def test_declarations_of_flows_classes_are_includes_where_the_header_is() -> None:
    output = emitted("class Void; int x;\ntemplate <class T>\nclass Future; // here\nint y;\n")
    assert '#include "flow/forward.h"\n#else\nclass Void;\n#endif\n#line 1 "test.actor.cpp"\n int x;\n' in output
    assert "#else\ntemplate <class T>\nclass Future;\n#endif\n" in output
    assert '#line 3 "test.actor.cpp"\n // here\nint y;\n' in output
    assert '#include "fdbrpc/forward.h"' in emitted("struct Endpoint;\n")
    assert "#else\nenum class TaskPriority : int;\n#endif\n" in emitted("enum class TaskPriority : int;\n")


@pytest.mark.parametrize(
    "other",
    [
        "class Own;",
        "class Future;",
        "template <class T> class Void;",
        "template <class T, class U> class Future;",
        "namespace n { class Void; }",
        "class Void {};",
        "class Void f();",
        "friend class Void;",
        "enum class Error;",
        "enum TaskPriority : int;",
    ],
)
def test_other_declarations_stay(other: str) -> None:
    assert other in emitted(other + "\n")
    assert "#include" not in emitted(other + "\n")


def test_every_declared_class_has_its_header() -> None:
    for folder, header in (("flow", "flow/forward.h"), ("net", "fdbrpc/forward.h")):
        text = (ROOT / folder / "compat" / header).read_text(encoding="utf-8")
        declared = re.findall(r"^(template <class T>\n)?(?:class|struct) (\w+);$", text, re.MULTILINE)
        declared += [("", name) for name in re.findall(r"^using (\w+) =", text, re.MULTILINE)]
        assert {(bool(template), name) for template, name in declared} == {
            key for key, value in HEADERS.items() if value == header
        }
        enums = {name for name, value in ENUMS.items() if value == header}
        assert set(re.findall(r"^enum class (\w+) : int;$", text, re.MULTILINE)) == enums
        names = {name for _, name in declared} | enums
        assert set(re.findall(r"^using [\w:]+::(\w+);", text, re.MULTILINE)) == names


# ---------------------------------------------------------------------------------------------------------------
# Lines


def test_a_state_machine_has_the_lines_at_which_it_suspends() -> None:
    assert "FLOW_WAITS(1, 3, 5)" in emitted(SIMPLE)
    choose = (
        "ACTOR Future<Void> f(Future<Void> a) {\n    choose {\n        when(wait(a)) {}\n    }\n    return Void();\n}\n"
    )
    assert "FLOW_WAITS(1, 2)" in emitted(choose)
    assert "FLOW_WAITS(1)" in emitted("ACTOR Future<Void> f() { return Void(); }\n")


@pytest.mark.parametrize("backend", BACKENDS)
def test_statements_stand_on_their_lines(backend: str) -> None:
    lines = placed(emitted("\n" * 40 + SIMPLE, backend))
    for number, text in (
        (43, "operand<1, int>(room__)."),
        (44, "sum += x;"),
        (45, "delay(1.0)"),
        (42, "sum"),
    ):
        assert number in [at for at, line in lines if text in line], text


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_test_case_stands_on_its_lines(backend: str) -> None:
    output = emitted('\nTEST_CASE("/a") {\n    return Void();\n}\n\nflow::Future<flow::Void> last;\n', backend)
    found = {number for number, line in placed(output) if "flowTestCase" in line or "UnitTestParameters" in line}
    assert 2 in found
    assert found <= {2, 3, 4}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_benchmark_is_registered_with_its_sizes(backend: str) -> None:
    output = emitted('\nBENCHMARK_CASE("/a", n, 1, 2 * 5) {\n    return Void();\n}\n', backend)
    assert 'FLOW_ACTOR_BENCHMARK_CASE(flowBenchmarkCase2, "/a", n, 1, 2 * 5)' in output
    assert "std::int64_t" in output


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_literals_keep_their_lines(backend: str, program: Path) -> None:
    """Every string of a program stands in the output, and only on lines that it stands on in the source."""
    text = program.read_text(encoding="utf-8")
    places: dict[str, set[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        for literal in re.findall(r'say\(("[^"]+")', line):
            places.setdefault(literal, set()).add(number)
    found: dict[str, set[int]] = {}
    for number, line in placed(emitted(text, backend)):
        for literal in re.findall(r'say\(("[^"]+")', line):
            found.setdefault(literal, set()).add(number)
    assert found == places


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wait_needs_three_line_directives(backend: str) -> None:
    """Before and behind its expression, which has its column and no other text, and one for a long line."""
    body = "".join(f"    wait(delay({i}));\n    int x{i} = wait(g({i}));\n    use(x{i});\n" for i in range(50))
    output = emitted(f"ACTOR Future<Void> f() {{\n{body}    return Void();\n}}\n", backend)
    assert output.count("#line") < 3 * 100 + 30
    assert output.count("\n") < 151 + 2 * output.count("#line") + 20


def test_comment_at_the_end_of_an_operand() -> None:
    output = emitted("ACTOR Future<Void> f(Future<Void> a) {\n    wait(a // the first\n    );\n    return Void();\n}\n")
    assert "// the first );" not in one_blank(output.split("a_body")[1].split("\n")[1])


# ---------------------------------------------------------------------------------------------------------------
# State machine


def test_futures_must_not_be_thrown_away_unless_diagnostics_are_off() -> None:
    file, source = sound(SIMPLE)
    assert "[[nodiscard]]" in emit(file, source, "state-machine", "out.g.cpp")
    assert "[[nodiscard]]" not in emit(file, source, "state-machine", "out.g.cpp", nodiscard=False)


def test_state_machine() -> None:
    output = one_blank(re.sub(r"#line.*", "", emitted(SIMPLE)))
    assert "namespace { struct FActorState { Future<int> a; int k; int sum;" in output
    assert "FActorState(Future<int> const& arg__a, int const& arg__k) : a(arg__a), k(arg__k), sum(k) {}" in output
    assert "if (from__ != 0) switch (from__) { case 1: goto resume1; case 2: goto resume2; default: __builtin" in output
    assert "{ auto x__ = flow::takeLocal<1, int>(room__, wait__); [[maybe_unused]] auto& x" in output
    assert "auto& x = x__.get(); sum += x; wait__ =" in output
    assert (
        ". wait(delay(1.0)) ; } if (!actor__.ready(wait__, from__)) return actor__.park(wait__, 2); resume2: if"
        in output
    )
    assert "return actor__. finish(std::forward<decltype(sum)>(sum));" in output
    assert "struct FActor final : flow::actor::Actor<flow::actor::PropagatingFrame<int>, FActorState> {};" in output
    assert "[[nodiscard]] Future<int> f(Future<int> const& a, int const& k) {" in output


def test_coroutine() -> None:
    output = one_blank(re.sub(r"#line.*", "", emitted(SIMPLE, "coroutine")))
    assert "[[nodiscard]] Future<int> f(Future<int> const& arg__a, int const& arg__k) {" in output
    assert "Future<int> a(arg__a);" in output
    assert "if (actor__->waitFor(wait__)) { co_await flow::coro::parked(); wait__ = actor__->settled(); }" in output
    assert "if (wait__.failed()) { actor__->share(wait__); co_await flow::coro::passOn(wait__); }" in output
    assert "co_return sum;" in output
    assert "goto" not in output


def test_state_that_is_made_of_a_pack() -> None:
    body = "state int sum = (0 + ... + values);\n wait(delay(1));\n return sum;\n"
    source = f"ACTOR template <class... Ts>\nFuture<int> sums(Ts... values) {{\n{body}}}\n"
    output = one_blank(emitted(source))
    assert "sum(values__.apply([&]([[maybe_unused]] Ts&... values) {" in output
    assert "return flow::actor::Type<int>(((0 + ... + values))); }))" in output


def test_choose_is_lazy_and_closes_the_run_before_it_suspends() -> None:
    whens = "when(int x = wait(a)) { use(x); }\n        when(wait(get(b))) {}\n        when(wait(b)) {}"
    body = f"    Token t;\n    choose {{\n        {whens}\n    }}\n"
    head = "ACTOR void f(Future<int> a, Future<Void> b) {\n"
    output = one_blank(re.sub(r"#line.*", "", emitted(head + body + "}\n")))
    first = "if (!actor__.when(choose__, flow::operand<1, int>(room__.at(0)). wait(a) )) { (void)actor__.when("
    third = "flow::operand<3>(room__.at(2)). wait(b) "
    last = f"; if (choose__.undecided()) {{ (void)actor__.when(choose__, {third}); }} }}"
    assert first in output
    assert last in output
    assert "evaluation__.done(); } } if (!choose__.decided())" in output
    assert "flow::Choose<3> choose__;" in output
    assert output.index("if (choose__.won(0)) { auto x_") < output.index("else { flow::drop<3>(")


def test_try_with_waits_is_entered_from_its_front() -> None:
    body = "try { wait(a); } catch (Error& e) { wait(a); throw timed_out(); }\n"
    output = one_blank(emitted(f"ACTOR void f(Future<Void> a) {{\n{body}}}\n"))
    assert "switch (entry__) { case 1: goto try1; case 2: goto resume2; default: __builtin_unreachable(); }" in output
    assert "try1: try { switch (entry__) { case 1: entry__ = 0; goto resume1; default: break; }" in output
    assert "catch (...) { error__ = flow::currentError(); goto catch1; }" in output
    assert "return actor__.fail(timed_out());" in output


def test_statements_without_waits_are_copied() -> None:
    body = "    for (int i = 0; i < 3; ++i) // count\n        if (i)\n            use(i);\n"
    assert body.strip() in emitted(f"ACTOR void f() {{\n{body}}}\n")


def test_a_state_that_a_local_hides_is_not_moved() -> None:
    body = "state std::string s; wait(a); { static std::string s = g(); if (s.empty()) return s; } return s;"
    output = one_blank(emitted(f"ACTOR Future<std::string> f(Future<Void> a) {{ {body} }}\n"))
    assert "finish(s)" in output
    assert "finish(std::forward<decltype(s)>(s))" in output


# ---------------------------------------------------------------------------------------------------------------
# Declarations


@pytest.mark.parametrize("backend", BACKENDS)
def test_prototypes(backend: str) -> None:
    def prototype(text: str) -> str:
        return one_blank(emitted(text, backend).split('"test.actor.cpp"\n')[1])

    assert prototype('ACTOR Future<int> f(int a, std::string b = "x  y");') == (
        '[[nodiscard]] Future<int> f(int const& a, std::string const& b = "x y");'
    )
    assert prototype("ACTOR static void f();") == "static void f();"
    assert prototype("ACTOR UNCANCELLABLE Future<int> f();") == "Future<int> f();"
    assert prototype("ACTOR [[flow_allow_discard]] [[gnu::cold]] Future<int> f();") == "[[gnu::cold]] Future<int> f();"
    assert prototype("ACTOR template <class T, int N = 3> Future<T> f(T x);") == (
        "template <class T, int N = 3> [[nodiscard]] Future<T> f(T const& x);"
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_default_template_arguments_stand_on_the_first_declaration(backend: str) -> None:
    declaration = "ACTOR template <class T = int> Future<T> f(T x);\n"
    definition = "ACTOR template <class T{}> Future<T> f(T x) {{ wait(x); return x; }}\n"
    assert emitted(declaration + definition.format(" = int"), backend).count("= int") == 1
    assert "= int" in emitted(definition.format(" = int"), backend)


def test_classes_of_actors() -> None:
    output = one_blank(emitted(SIMPLE + SIMPLE.replace("int k", "long k")))
    assert "struct FActor1 final" in output
    inside = one_blank(emitted("struct X {\n" + SIMPLE.replace("ACTOR", "ACTOR static") + "};\n"))
    assert "namespace {" not in inside
    assert "static Future<int> f(" in inside
    outside = one_blank(emitted("struct X { ACTOR static void f(); };\nACTOR void X::f() { wait(g()); }\n"))
    assert "void X::f() { struct X_FActorState {" in outside


def test_void_coroutines_are_detached() -> None:
    output = one_blank(emitted("ACTOR void f(int a) { wait(g(a)); }\n", "coroutine"))
    assert "void f(int const& a) { struct FActor { static flow::coro::Detached run(int const& arg__a)" in output
    assert "FActor::run(a); }" in output


# ---------------------------------------------------------------------------------------------------------------
# As a whole


@pytest.mark.parametrize("backend", BACKENDS)
def test_output_is_not_much_larger_than_the_source(backend: str) -> None:
    programs = [path for path in PROGRAMS if path.name != "many_waits.actor.cpp"]  # which has little but waits
    texts = [path.read_text(encoding="utf-8") for path in programs]
    outputs = [emitted(text, backend) for text in texts]
    assert sum(map(len, outputs)) < 4.4 * sum(map(len, texts))
    assert sum(text.count("\n") for text in outputs) < 3.2 * sum(text.count("\n") for text in texts)


def test_a_thousand_lines_take_no_time() -> None:
    part = (
        "    if (g()) {{ Token t; wait(delay({0})); }} else {{ try {{ wait(f); }} catch (Error& e) {{ wait(f); }} }}\n"
    )
    body = "".join(part.format(i) for i in range(1000))
    begin = time.process_time()
    emitted(f"ACTOR void f(Future<Void> f) {{\n{body}}}\n")
    assert time.process_time() - begin < 3  # 0.4 s on an idle machine


@pytest.mark.parametrize("backend", BACKENDS)
def test_control_characters_of_the_source_are_text(backend: str) -> None:
    text = 'ACTOR Future<Void> a(Future<Void> f) {\n    wait(f);\n    log("\x017\x02");\n    return Void();\n}\n'
    output = emitted(text, backend)
    assert '"\x017\x02"' in output
    assert max(number for number, _ in placed(output)) <= 6


@pytest.mark.parametrize("captures", [", k", "k,", ",", "k, , l", "k, ,"])
def test_a_capture_list_without_a_name_is_left_for_cpp_to_refuse(captures: str) -> None:
    text = f"ACTOR Future<Void> f(Future<Void> x, int k, int l) {{ wait(x); g([{captures}] {{}}); return Void(); }}"
    for backend in BACKENDS:
        assert f"[{captures}] {{}}" in emitted(text, backend)
