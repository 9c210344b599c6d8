"""Mistakes that only C++ can see, since they lie in types: its message says what to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from back import BACKENDS, COMPILERS, emitted, syntax_errors

MISTAKES = {
    "Promise<int>": {
        "int x = wait(from);": "wait(p) takes a Future: write wait(p.getFuture())",
        "auto x = wait(from);": "wait(p) takes a Future: write wait(p.getFuture())",
        "int x = waitNext(from);": "waitNext(p) takes a FutureStream: write waitNext(p.getFuture())",
    },
    "PromiseStream<int>": {"auto x = waitNext(from);": "write waitNext(p.getFuture())"},
    "FutureStream<int>": {
        "int x = wait(from);": "to read the next value of a stream, write waitNext(s)",
        "auto x = wait(from);": "to read the next value of a stream, write waitNext(s)",
        "long x = waitNext(from);": "exactly the type that its result is declared with",
    },
    "Future<int>": {
        "int x = waitNext(from);": "to read the value of a Future, write wait(E)",
        "long x = wait(from);": "exactly the type that its result is declared with",
        "wait(from); int x = 1;": "(Future<Void> when it has none)",
    },
    "int": {"auto x = wait(from);": "wait(E) needs a Future"},
}
EACH_ERROR: dict[str, tuple[str, ...]] = {"clang++-19": ("-ferror-limit=0",), "g++": ()}  # gcc has no limit
CASES = [(type_, statement, message) for type_, cases in MISTAKES.items() for statement, message in cases.items()]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_compiler_says_what_to_write(backend: str, compiler: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
    actors = [
        f"ACTOR Future<int> actor{number}({type_} from) {{\n    {statement}\n    return x;\n}}\n"
        for number, (type_, statement, _) in enumerate(CASES)
    ]
    said = syntax_errors(emitted(head + "".join(actors), backend), compiler, tmp_path)
    for number, (_, statement, message) in enumerate(CASES):
        assert message in said, CASES[number]
        word = re.search(r"wait(Next)?\b", statement)
        assert word is not None
        column = 5 + (word.end() if compiler == "g++" else word.start())  # gcc points at the bracket
        place = f":{5 + 4 * number}:{column}: error: "
        found = [line for line in said.splitlines() if place in line]
        assert len(found) == 1, CASES[number]
        assert message in found[0], CASES[number]
        shown = rf"^ *[0-9]+ \| +{word[0]}\(from\)$"  # gcc prints the user's file
        assert compiler == "g++" or re.search(shown, said, re.MULTILINE), CASES[number]


NO_VALUES = [
    ("int", "return Order{a};"),
    ("int", "return from;"),
    ("int", "return wait(text);"),
    ("int", "return waitNext(stream.getFuture());"),
    ("int", "return Void();"),
    ("int", "return [] { return 1; };"),
    ("int", "choose { when(wait(delay(1))) { return no; } when(int b = wait(from)) { return b; } }"),
    ("Order", 'return a == 1 ? std::string() : "x";'),
    ("Only", "return *only;"),
    ("Void", "return 5;"),
    ("Void", 'return "done";'),
    ("Void", "return operation_failed();"),
    ("Void", "return from;"),
    ("Alias", "return from;"),
    ("Alias", "return std::string();"),
    ("Void", "promise.send(Order{a});"),
    ("Void", "stream.send(Order{a});"),
    ("int", "return {1, 2, a};"),
    ("int", 'return {Order{a}, {}, {{1}, "x"}};'),
    ("Order", "return {from};"),
    ("std::string", "return {Order{a}};"),
    ("Alias", 'return {"x"};'),
    ("Void", "return {1};"),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_result_of_the_wrong_type_is_reported_where_it_is_returned(
    backend: str, compiler: str, tmp_path: Path
) -> None:
    head = (
        '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
        "struct Order { int id; }; struct Only { Only(int); Only(Only const&) = delete; };"
        " using Alias = Order; extern Only* only; extern char const* no;\n"
    )
    arguments = (
        "Future<int> from, Future<std::string> text, Promise<std::string> promise, PromiseStream<std::string> stream"
    )
    actors = [
        f"ACTOR Future<{result}> actor{number}({arguments}) {{\n    int a = wait(from); if (a)\n    {statement}\n"
        "    throw timed_out();\n}\n"
        for number, (result, statement) in enumerate(NO_VALUES)
    ]
    said = syntax_errors(emitted(head + "".join(actors), backend), compiler, tmp_path, *EACH_ERROR[compiler])
    errors = [line for line in said.splitlines() if ": error: " in line]
    assert len(errors) == len(NO_VALUES), errors
    for number, (_, statement) in enumerate(NO_VALUES):
        (error,) = (line for line in errors if re.search(rf":{7 + 5 * number}:[0-9]+: ", line))
        assert "no value of the future's type can be made of what is returned or sent" in error
        word = re.search(r"return|send\(", statement)
        assert word is not None
        column = int(re.findall(r":[0-9]+:([0-9]+): ", error)[0]) - 5
        # gcc points at the bracket, or at the last word of what is returned.
        assert column == word.start() if compiler != "g++" else word.start() < column <= len(statement), error
        shown = re.search(r"(return|promise|stream)\b.*?;", statement)
        assert shown is not None
        assert compiler == "g++" or shown[0] in said, shown  # gcc prints the file
    assert "Order, int>" in said or "Given = Order; Wanted = int;" in said, "both types"


@pytest.mark.parametrize(
    "local",
    [
        "static std::string s;",
        "std::string static s;",
        "auto static s = text;",
        "auto& s = text;",
        "auto& [s, t] = pair;",
    ],
)
def test_what_outlives_the_actor_is_not_moved(local: str) -> None:
    body = f"wait(from); if (text.empty()) {{ {local} return s; }} return text;"
    text = f"ACTOR Future<std::string> a(std::string text, Future<Void> from) {{ {body} }}\n"
    returned = re.findall(r"finish\(.*?\);", emitted(text), re.DOTALL)
    assert ["forward" in each for each in returned] == [False, True]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_state_that_can_only_be_made_in_place(compiler: str, tmp_path: Path) -> None:
    text = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
    text += "ACTOR Future<Void> actor() { wait(delay(0)); state Semaphore s(2); wait(s.acquire()); return Void(); }\n"
    said = syntax_errors(emitted(text), compiler, tmp_path)
    (error,) = (line for line in said.splitlines() if ": error: " in line)
    assert re.search(r":4:6[0-9]: error: .*is declared at the top of its actor", error)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_handler_of_errors_under_another_name(backend: str, compiler: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\nusing namespace flow;\nusing Oops = Error;\n#include "flow/actorcompiler.h"\n'
    for caught in ("Oops& e", "Oops const&", "Oops"):
        body = f"try {{ int x = wait(g); return x; }} catch ({caught}) {{}} return 1;"
        actor = f"ACTOR Future<int> f(Future<int> g) {{ {body} }}\n"
        said = syntax_errors(emitted(head + actor, backend), compiler, tmp_path)
        assert "write `catch (Error& e)`" in said, caught


REFUSED = {
    "for (auto x : 5) { wait(delay(x)); }": "a `for` that waits goes over what has begin() and end()",
    "for (auto x : number) { wait(delay(x)); }": "a `for` that waits goes over what has begin() and end()",
    "for (auto x : from) { wait(delay(1)); }": "a `for` that waits goes over what has begin() and end()",
    "for (int x : from) { wait(delay(x)); }": "a `for` that waits goes over what has begin() and end()",
    "for (auto x : Hidden()) { wait(delay(x)); }": "has begin() and end(), both public",
    "for (auto& x : number + 1) { number = x; wait(delay(1)); }": "a `for` that waits goes over what has begin()",
    "state Only only;": "a state variable needs a value if its type has no default constructor",
    "while (number) { state Only only; wait(delay(1)); }": "a state variable needs a value if its type has no default",
    "state Made made[2] = {1, 2};": "an array whose elements cannot be assigned is declared at the top",
    "auto [x, y] = wait(from);": "cannot decompose",
    "state std::unique_ptr<int> x = state_;": "deleted",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_the_library_refuses_is_reported_in_the_users_line(compiler: str, backend: str, tmp_path: Path) -> None:
    head = (
        '#include "flow/flow.h"\n#include <memory>\nusing namespace flow; struct Only { Only(int); };'
        "class Hidden { int* begin(); int* end(); }; "
        "struct Made { Made(int = 0); Made& operator=(Made const&) = delete; };\n"
        '#include "flow/actorcompiler.h"\n'
    )
    actors = [
        f"ACTOR Future<Void> actor{number}(Future<int> from) {{\n    state int number = 1;\n"
        f"    state std::unique_ptr<int> state_;\n    wait(delay(number));\n    {statement}\n    return Void();\n}}\n"
        for number, statement in enumerate(REFUSED)
    ]
    said = syntax_errors(emitted(head + "".join(actors), backend), compiler, tmp_path, *EACH_ERROR[compiler])
    errors = [line for line in said.splitlines() if ": error: " in line]
    assert len(errors) == len(REFUSED), said
    for number, (statement, message) in enumerate(REFUSED.items()):
        (error,) = (line for line in errors if re.search(rf":{9 + 7 * number}:[0-9]+: error: ", line))
        assert message in error
        column = int(re.findall(r":[0-9]+:([0-9]+): ", error)[0])
        wanted = re.search(r"(?<= : )[^)]+|(?<=Only )only|(?<=Made )made|\[x, y\]|=(?= state_)", statement)
        assert wanted is not None
        # gcc points in front of a range, and at the end of what is assigned.
        is_array = "[2]" in statement  # clang points at the bracket there, too
        at = 5 + wanted.start() - is_array
        assert column == at or (compiler == "g++" and 3 < column <= 5 + len(statement)), error
        is_shown = f"// {statement}" in said
        assert is_shown or compiler == "g++" or not statement.startswith("for (auto x"), said  # gcc prints the file


ASSERTED = ["ASSERT_EQ(text, number)", "ASSERT_LT(text, number)", "ASSERT(from)", "FLOW_ASSERT_NEAR(text, 1, 2)"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_assertion_of_a_wrong_type_is_reported_where_it_stands(compiler: str, backend: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\n#include "flow/test.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
    head += "ACTOR Future<Void> f(std::string text, int number, Future<Void> from) { wait(from);\n"
    body = "".join(f"    {asserted};\n" for asserted in ASSERTED)
    said = syntax_errors(emitted(f"{head}{body}    return Void();\n}}\n", backend), compiler, tmp_path)
    places = sorted(re.findall(r"^[^\n:]+:(\d+):(\d+): error: ", said, re.MULTILINE))
    assert places == [("6", "5"), ("7", "5"), ("8", "5"), ("9", "22")], said


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_error_in_a_header_of_cpp_has_the_line_that_led_to_it(compiler: str, backend: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\nstruct Order {};\n'
    body = "    wait(delay(1));\n    FLOW_ASSERT_EQ(a, b);\n    return true;\n"
    actor = f"ACTOR Future<bool> f(std::vector<Order> a, std::vector<Order> b) {{\n{body}}}\n"
    said = syntax_errors(emitted(head + actor, backend), compiler, tmp_path)
    led = re.findall(r":(\d+:\d+): +(?:note: in .* requested here|required from here)$", said, re.MULTILINE)
    assert "7:5" in led, said


RANGES = ["basket.@item", "@items", "*basket.@item()", "{1, @two}", "basket.items(1, @two)"]


@pytest.mark.parametrize("is_member", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_unknown_name_in_the_range_of_a_loop_that_waits_is_found_first(
    compiler: str, backend: str, is_member: bool, tmp_path: Path
) -> None:
    head = (
        '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
        "struct Basket { std::vector<int> items(int, int); };\n"
    )
    statements = [f"    for (int x : {range_}) {{ wait(delay(x)); }}" for range_ in RANGES]
    text = head
    for number, statement in enumerate(statements):
        code = statement.replace("@", "")
        actor = f"ACTOR static Future<Void> actor(Basket basket) {{\n{code}\n    return Void();\n}}\n"
        text += f"struct Holder{number} {{ {actor} }};\n" if is_member else f"namespace n{number} {{ {actor} }}\n"
    said = syntax_errors(emitted(text, backend), compiler, tmp_path, *EACH_ERROR[compiler])
    first: dict[int, int] = {}
    for line, column in re.findall(r":(\d+):(\d+): error: ", said):
        first.setdefault((int(line) - 5) // 5, int(column) if (int(line) - 5) % 5 == 1 else 0)
    assert first == {number: statement.index("@") + 1 for number, statement in enumerate(statements)}, said


ORDER = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\nstruct Order { int id; };\n'
ASSIGNED = [
    "text = wait(from);",
    "order = wait(from);",
    "orders[0]  =  wait( from );",
    "order = waitNext(stream);",
    "*self = wait(from);",
    "choose { when(order = wait(from)) {} when(self->id = wait(texts)) {} }",
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_cannot_be_assigned_is_reported_at_the_assignment(backend: str, compiler: str, tmp_path: Path) -> None:
    arguments = "Order* self, Future<int> from, Future<std::string> texts, FutureStream<int> stream"
    states = "state Order order; state std::vector<Order> orders; state std::pair<int, int> text;"
    actors = [
        f"ACTOR Future<Void> actor{number}({arguments}) {{ {states}\n{statement}\nreturn Void(); }}\n"
        for number, statement in enumerate(ASSIGNED)
    ]
    said = syntax_errors(emitted(ORDER + "".join(actors), backend), compiler, tmp_path)
    found = [(int(line), int(column)) for line, column in re.findall(r":(\d+):(\d+): error: ", said)]
    wanted = []
    for number, statement in enumerate(ASSIGNED):
        for each in re.finditer(r"=\s*wait[^)]*\)", statement):
            wanted.append((6 + 3 * number, each))
    assert [line for line, _ in found] == [line for line, _ in wanted], said
    for (_, column), (_, each) in zip(found, wanted, strict=True):
        assert each.start() < column <= each.end(), said
    for statement in ASSIGNED[:-1]:
        assert compiler == "g++" or f"// {statement}" in said  # gcc prints the file


NOT_DECLARED = [
    "state int x = 0; x = wait(nope(from)); return x;",
    "state Order x; x = wait(nope(from)); return x.id;",
    "int x = wait(nope(from)); return x;",
    "auto x = wait(nope(from)); return x;",
    "return wait(nope(from));",
    "choose { when(auto x = waitNext(nope(from))) { return x; } }",
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_unknown_function_in_a_wait_is_the_only_error(compiler: str, backend: str, tmp_path: Path) -> None:
    actors = [f"ACTOR Future<int> f{n}(Future<int> from) {{ {each} }}\n" for n, each in enumerate(NOT_DECLARED)]
    said = syntax_errors(emitted(ORDER + "".join(actors), backend), compiler, tmp_path, *EACH_ERROR[compiler])
    errors = [line for line in said.splitlines() if " error: " in line]
    assert len(errors) == len(NOT_DECLARED), said
    for number, error in enumerate(errors):
        assert re.search(rf":{5 + number}:\d+: error: .*\bnope\b", error)


MISPLACED = """\
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"
ACTOR Future<int> actor(int x) {
    state int a = no_1;
    state std::vector<int> b(no_2);
    state  double   c{ no_3 }, d = no_4;
\tstate int e = "ä"[0] + no_5;
    wait(no_6);
    if (x) { int y = wait(no_7); return no_8; }
    choose {
        when(wait(no_9)) {}
        when(int z = waitNext(no_10)) { return no_11; }
    }
    state int f = no_12;
    throw no_13;
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_errors_are_at_the_users_own_line_and_column(backend: str, compiler: str, tmp_path: Path) -> None:
    said = syntax_errors(emitted(MISPLACED, backend), compiler, tmp_path)
    found = {name: place for place, name in re.findall(r":(\d+:\d+): error: .*?\b(no_\d+)\b", said)}
    wanted = {}
    for number, line in enumerate(MISPLACED.encode().splitlines(), 1):
        for name in re.finditer(rb"\bno_\d+\b", line):
            wanted[name[0].decode()] = f"{number}:{name.start() + 1}"
    assert found == wanted


UNKNOWN = """\
#include "flow/flow.h"
#include <array>
using namespace flow;
#include "flow/actorcompiler.h"
ACTOR Future<no_1> result(int a, std::string b) {
    wait(delay(a));
    throw timed_out();
}
ACTOR Future<Void> parameters(int a, no_3 b, std::vector<no_4> const& c,
                              Future<Void> d,   no_5&& e) {
    wait(d);
    return Void();
}
ACTOR void nothing(std::map<int, no_6> a, int b = no_7) { wait(delay(b)); }
ACTOR Future<Void> states(int a) {
    state no_8 b;
    wait(delay(a));
    state no_9 c;
    state std::vector<no_10> d(a);
    no_11 e = wait(delay(0));
    state no_12 f = wait(delay(0));
    return Void();
}
struct X {
    ACTOR [[gnu::cold]] static Future<no_13> inside(int a, no_14 b) {
        wait(delay(a));
        throw timed_out();
    }
    ACTOR Future<no_15> declared(no_16 a);
};
ACTOR Future<no_17> declared(Future<Void> a, no_18 b, std::string c = no_19);
ACTOR template <class T, no_20 N>
Future<T> templated(T a, std::array<T, no_21> b) {
    wait(delay(0));
    return a;
}
auto lambda = [] { return ACTOR [](int a, no_22 b) -> Future<no_23> { wait(delay(a)); throw timed_out(); }; };
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_is_wrong_in_a_head_is_found_where_the_user_wrote_it(backend: str, compiler: str, tmp_path: Path) -> None:
    said = syntax_errors(emitted(UNKNOWN, backend), compiler, tmp_path, *EACH_ERROR[compiler])
    found: dict[str, str] = {}
    for place, name in re.findall(r":(\d+:\d+): error: .*?\b(no_\d+)\b", said):
        found.setdefault(name, place)
    wanted = {}
    for number, line in enumerate(UNKNOWN.splitlines(), 1):
        for name in re.finditer(r"\bno_\d+\b", line):
            wanted[name[0]] = f"{number}:{name.start() + 1}"
    assert found == wanted


MISUSED = """\
#include "flow/flow.h"
using namespace flow;
struct Immovable { Immovable(Immovable const&) = delete; };
struct Incomplete;
#include "flow/actorcompiler.h"
ACTOR Future<Void> greet(int count, std::string name) {
    wait(delay(count));
    return Void();
}
Future<Void> called = greet("x", 1, 2);
ACTOR Future<Void> copies(int count, Immovable unique, int more) { wait(delay(count)); return Void(); }
ACTOR Future<Void> holds(int count, Incomplete unknown, int more) { wait(delay(count)); return Void(); }
ACTOR Future<Void> defaults(double seconds = 1.5, int count = "x", std::string name = 5) {
    wait(delay(seconds));
    return Void();
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_compiler_shows_of_a_head_reads_like_the_source(backend: str, tmp_path: Path) -> None:
    """clang shows the emitted text; gcc shows the source."""
    said = syntax_errors(emitted(MISUSED, backend), "clang++-19", tmp_path)
    own = "arg__" if backend == "coroutine" else ""  # its own copies have the names of the source
    head = f"      Future<Void> greet(int const& {own}count, std::string const& {own}name) {{"
    assert (
        f"6:20: note: candidate function not viable: requires 2 arguments, but 3 were provided\n    6 | {head}\n"
        in said
    )
    for place in (
        "11:48: error: call to deleted",
        "12:48: error: [a-z]+ has incomplete",
        "13:55: error",
        "13:80: error",
    ):
        assert re.search(place, said), place
    shown = re.findall(r"^ *\d+ \| (.*)", said, re.MULTILINE)
    assert max(map(len, shown)) <= 120
    assert said.count("\n") < 45


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_no_frame_can_hold_is_refused_where_it_is_declared(backend: str, compiler: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
    head += "struct alignas(32) Wide { double values[4]; };\n"
    actors = (
        "state Wide s; wait(f);",
        "wait(f); state Wide s; wait(f);",
        "wait(f); state Wide s = Wide(); wait(f);",
        "state Wide s[2]; wait(f);",
    )
    text = head + "".join(
        f"ACTOR Future<Void> f{n}(Future<Void> f) {{\n    {body}\n    return Void();\n}}\n"
        for n, body in enumerate(actors)
    )
    text += "ACTOR Future<Void> f(Future<Void> f,\n    Wide parameter) {\n    wait(f);\n    return Void();\n}\n"
    said = syntax_errors(emitted(text, backend), compiler, tmp_path)
    places = re.findall(r":(\d+:\d+): error: .*parameters and state are aligned to 16 bytes at most", said)
    assert places == ["6:16", "10:20", "14:20", "18:11", "22:10"], said
    assert said.count("error: ") == len(places), said


ALIGNED = """\
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"
ACTOR Future<int> f(Future<int> f) {
    int first = 1;
    alignas(32) double local[4] = {double(first)};
    [[maybe_unused]] alignas(double) char buffer[8] = {};
    struct alignas(32) Inner { int value; } inner{int(local[0])};
    first = inner.value;
    int result = wait(f);
    return result;
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_alignment_of_a_local_is_not_ignored_in_silence(compiler: str, backend: str, tmp_path: Path) -> None:
    said = syntax_errors(emitted(ALIGNED, backend), compiler, tmp_path)
    refused = re.findall(r":(\d+):\d+: error: static assertion failed: .*this compiler ignores the alignas", said)
    assert refused == (["6", "7"] if (compiler, backend) == ("g++", "coroutine") else []), said
    assert said.count("error: ") == len(refused), said


MISCALLED = """\
#include "flow/flow.h"
using namespace flow;
struct Wrong {};
#include "flow/actorcompiler.h"
ACTOR void nothing(int count, std::string name) { wait(delay(count)); }
struct X {
    int number;
    ACTOR Future<Void> inside(int count, std::string name) { wait(delay(count)); return Void(); }
    ACTOR static Future<Void> apart(int count, std::string name) { wait(delay(count)); return Void(); }
};
ACTOR template <class T>
Future<T> templated(T value, int count) { wait(delay(count)); return value; }
ACTOR Future<Void> calls(int number) {
    nothing(number, Wrong());
    wait(X().inside(1, Wrong()) && X::apart(Wrong(), "x") && success(templated(1, Wrong())));
    return Void();
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_call_shows_the_users_own_names_of_parameters(backend: str, tmp_path: Path) -> None:
    said = syntax_errors(emitted(MISCALLED, backend), "clang++-19", tmp_path)
    functions = ("nothing", "inside", "apart") if backend == "state-machine" else ("nothing", "inside")
    for function in functions:
        assert f" {function}(int const& count, std::string const& name) {{" in said
    assert "passing argument to parameter 'name' here" in said
    assert backend == "coroutine" or "arg__" not in said


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("result", ["no_1", "no_1<int>"])
def test_of_an_unknown_result_compilers_say_little(result: str, compiler: str, backend: str, tmp_path: Path) -> None:
    head = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
    body = "state int b = a; wait(delay(a)); int c = wait(Future<int>(b)); wait(delay(c)); return b;"
    text = f"{head}ACTOR Future<{result}> f(int a) {{ {body} }}\n"
    said = syntax_errors(emitted(text, backend), compiler, tmp_path)
    errors = re.findall(r"error: .*", said)
    assert re.search(r":4:14: error: .*\bno_1\b", said)
    # gcc says twice of the head that it is wrong, and that it is no coroutine's.
    assert len(errors) <= (4 if (compiler, backend, result) == ("g++", "coroutine", "no_1") else 3), said
    assert "__" not in "".join(errors), said
