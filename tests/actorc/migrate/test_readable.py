"""The result is what one would have written: nothing is said twice, and nothing is kept that nobody can tell apart."""

from __future__ import annotations

import pytest
from conversions import converted

from actorc_migrate.plain_classes import plain_classes

STYLES = pytest.mark.parametrize("style", ["exact", "idiomatic"])


def body(text: str, style: str = "exact", before: str = "", result: str = "Void") -> str:
    """What becomes of the body of an actor."""
    made = converted(f"{before}ACTOR Future<{result}> f(Server* self, Future<Void> g) {{\n{text}\n}}\n", style).text
    return made.partition("Future<Void> g")[2].partition("{\n")[2].removesuffix("\n}\n")


@STYLES
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("wait(g);\nreturn Void();", "co_await g;"),
        ("wait(g);\n\n    return flow::Void{};  ", "co_await g;"),
        ("wait(g); return Void();", "co_await g;"),
        ("wait(g);\nreturn Void(); // done", "co_await g;\n// done"),
        ("wait(g);\n// nothing more\n\nreturn Void();", "co_await g;\n// nothing more"),
        ("if (self) return Void();\nreturn Void();", "if (self) co_return;"),
        ("return wait(g);", "co_await g;"),
        ("wait(g);\nreturn self->close();", "co_await g;\n(void)(self->close());"),
        ("return Void();", "co_return;"),
        ("return self->close();", "(void)(self->close()); co_return;"),
        (
            "try { wait(g); return Void(); } catch (int) { }\nreturn Void();",
            "try { co_await g; co_return; } catch (int) { }",
        ),
    ],
)
def test_the_last_return(style: str, before: str, after: str) -> None:
    assert body(before, style) == after


@STYLES
def test_the_last_return_of_a_void_actor(style: str) -> None:
    assert "{ co_await delay(1); }" in converted("ACTOR void f() { wait(delay(1)); return; }", style).text


@pytest.mark.parametrize(
    ("whens", "after"),
    [
        ("when(wait(a)) { x(); } when(wait(b)) { }", "; chosen.index() == 0) { x(); }"),
        ("when(wait(a)) { } when(wait(b)) { x(); }", "; chosen.index() == 1) { x(); }"),
        (
            "when(wait(a)) { x(); } when(wait(b)) {} when(wait(c)) { y(); }",
            "; chosen.index() == 0) { x(); } else if (chosen.index() == 2) { y(); }",
        ),
        ("when(wait(a)) {} when(int n = waitNext(b)) {}", ";"),
        ("when(wait(a)) {} when(wait(b)) { /* nothing */ }", "; chosen.index() == 1) { /* nothing */ }"),
        ("when(wait(a)) {} /* why */ when(wait(b)) { x(); }", "; chosen.index() == 0) {} /* why */ else { x(); }"),
        (
            "when(wait(a)) { x(); } when(Guard n = waitNext(b)) {}",
            "; chosen.index() == 0) { x(); } else { [[maybe_unused]] Guard n = std::get<1>(std::move(chosen)); }",
        ),
    ],
)
def test_branches_that_say_nothing(whens: str, after: str) -> None:
    made = body(f"choose {{ {whens} }}\nreturn Void();", "idiomatic")
    names = "a, b, c" if "wait(c)" in whens else "a, b"
    assert made in (f"if (auto chosen = co_await flow::race({names}){after}", f"co_await flow::race({names});")
    assert (after == ";") is made.startswith("co_await")


def test_branches_on_lines_of_their_own() -> None:
    text = """\
    loop choose {
        when(wait(a)) {
            x();
        }
        when(wait(b)) {
        }
    }"""
    assert (
        body(text)
        == """\
    while (true) {
        if (auto chosen = co_await flow::race(a, b); chosen.index() == 0) {
            x();
        }
    }"""
    )


RETRY = """\
    loop {
        try {
            wait(g);
            return Void();
        } catch (Error& e) {
            // try again
            TraceEvent("Again").error(e).detail("Text", R"(
            raw)");
            if (e.code() == 3) {
                wait(delay(1));
            }
        }
    }"""


def test_a_handler_that_control_always_comes_to() -> None:
    assert (
        body(RETRY, "idiomatic")
        == """\
    while (true) {
        flow::Error caught;
        try {
            co_await g;
            co_return;
        } catch (Error& e) {
            caught = e;
        }
        // try again
        TraceEvent("Again").error(caught).detail("Text", R"(
            raw)");
        if (caught.code() == 3) {
            co_await delay(1);
        }
    }""".replace("flow::Error", "Error")
    )


@STYLES
@pytest.mark.parametrize(
    ("handler", "made"),
    [
        ("wait(h(e.code(), x.e, [e] { return e; }));", "h(caught.code(), x.e, [caught] { return caught; })"),
        ("if (e.code() > 1) throw e; wait(h());", "if (caught.code() > 1) throw caught;"),
        ("auto call = [this, e] {}; call(); wait(h());", "Error& e = caught;"),  # text of its own
        ("try { x(); } catch (Error& e) { y(e); } z(e); wait(h());", "Error& e = caught;"),
        ("use(e); { std::string e; use(e); } wait(h());", "Error& e = caught;"),
        ("state Error error = e; wait(h()); throw error;", "error = caught;"),
    ],
)
def test_the_name_of_what_was_caught(style: str, handler: str, made: str) -> None:
    found = body(f"try {{ wait(g); }} catch (Error& e) {{ {handler} }}\nreturn Void();", style)
    assert made in found
    assert ("Error& e = caught;" in found) is ("Error& e = caught;" in made)


@pytest.mark.parametrize(
    "text",
    [
        "int n = 1; use(n); try { wait(g); throw x(); } catch (Error& e) { wait(h()); int n = 2; use(n); }",
        "try { wait(g); throw x(); } catch (Error& e) { wait(h()); int self = 2; use(self); }",
        "try { wait(g); throw x(); } catch (Error& e) { wait(h()); struct A {}; use(A()); }",
        "try { wait(g); throw x(); } catch (Error& e) { wait(h()); int n = 2; use(n); }\nuse(1);",
    ],
)
def test_a_handler_that_needs_its_braces(text: str) -> None:
    assert "{ co_await h();" in body(f"while (self) {{ {text} }}\nreturn Void();")


PLAIN = """\
struct Point { int x = 0, y : 3; std::vector<std::pair<int, std::string>> all[2]; bool operator<(Point const&) const; };
class Line { public: Line() : n(make()) {} void grow() { n++; } private: Point from, to; int n; };
enum class Kind : int { first, second };
enum Old { third };
"""
OBJECTS = """\
struct HasFuture { Future<Void> f; };
struct HasDestructor { ~HasDestructor(); int n; };
struct Derived : Point { int n; };
template <class T> struct Template { T t; };
union Union { int n; };
struct Virtual { virtual void f(); };
struct HasFunction { std::function<void(int)> f; };
struct Twice { int n; };
namespace other { struct Twice { ~Twice(); }; }
struct Inside { struct In { ~In(); } in; };
struct Nested { HasFuture f; };
struct Named { Unknown u; };
"""


def test_classes_that_hold_numbers_and_bytes() -> None:
    found = plain_classes(PLAIN + OBJECTS)
    assert found.harmless == {"Point", "Line", "Kind", "Old"}
    assert found.assignable == {"Point", "Kind", "Old"}


@pytest.mark.parametrize(
    "declared",
    [
        *("Point x;", "Line x{};", "std::vector<Point> x = make();", "Kind x = Kind::first;", "auto x = 3;"),
        *("auto x = self->all.begin();", "auto x = self->all.size();", "auto x = Point();", "const auto x = -1.5;"),
        *("std::map<int, Point>::iterator x = find();", "auto x = static_cast<int>(self->n);", "auto x = &self->n;"),
        "auto x = self->all.find(3); if (x == self->all.end()) return Void();",
    ],
)
def test_locals_of_which_nobody_can_tell_the_end(declared: str) -> None:
    assert body(f"{declared}\nuse(x);\nwait(delay(1));\nreturn Void();", before=PLAIN).startswith(declared[:9])
    notes = converted(
        f"{PLAIN}ACTOR Future<Void> f(S* self) {{ {declared} wait(delay(1)); return Void(); }}", "idiomatic"
    )
    assert "H2" not in notes.codes


@pytest.mark.parametrize(
    "declared",
    [
        *("HasFuture x;", "Twice x;", "Inside x;", "auto x = make();", "auto x = self->all.begin() + 1;", "Unknown x;"),
        *("auto x = f(self->all.size()).get();", "auto x = self->all.find(3);", "std::vector<HasFuture> x;"),
    ],
)
def test_locals_that_are_held(declared: str) -> None:
    made = body(f"{declared}\nuse(x);\nwait(delay(1));\nreturn Void();", before=PLAIN + OBJECTS)
    assert "xLocal.reset();" in made


@pytest.mark.parametrize(
    "operand",
    [
        *("delay(now() + 1)", "h(text.size(), self->q.front())", "h(std::string(3, 'x'), Point(1), std::min(a, b))"),
        *("success(child(3))", "store(x, self->get(key.size()))", "Future<Void>(timed_out())", "h(p.getFuture())"),
        *("self->q.back().get(1)", "h(plainly(1), pointer())", "timeout(child(3), 1.0)"),
    ],
)
def test_operands_that_stand_alone(operand: str) -> None:
    before = PLAIN + "Point plainly(int n);\nHasFuture* pointer();\n"
    assert body(f"wait({operand});\nreturn Void();", before=before) == f"co_await {operand};"


@pytest.mark.parametrize(
    "operand",
    [
        *(
            "h(Guard(1))",
            "h(unknown())",
            "success(Guard(1))",
            "Future<Guard>(guard())",
            "make().get()",
            "h(self->get())",
        ),
        *("success(child(grandchild()))", "a(1) && b(2)", "h(plainly(1))", "h(self->named())", "mine(child(3))"),
    ],
)
def test_operands_that_are_evaluated_before(operand: str) -> None:
    before = "Guard plainly(int n);\nint named();\n"
    made = body(f"wait({operand});\nreturn Void();", before=before)
    assert made == f"auto operand = {operand};\nco_await std::move(operand);"


@pytest.mark.parametrize(
    "operand",
    [
        *(
            "stop || delay(1)",
            "delay(1) && delayUntil(now() + 1)",
            "p.getFuture() || Never()",
            "(stop || g) && delay(1)",
        ),
        *("child(3) || delay(1)", "success(stop) && g", "stop && self->put(1, 2)"),
    ],
)
def test_sums_that_stand_alone(operand: str) -> None:
    assert body(f"wait({operand});\nreturn Void();") in (f"co_await ({operand});", f"co_await {operand};")


@pytest.mark.parametrize(
    "operand",
    [
        *("child(3) || child(4)", "stop || h(Guard(1))", "Guard(1) && delay(1)", "success(child(1)) || delay(1)"),
        *("(child(1) || stop) && child(2)", "stop || guards[1]", "stop || delay(Guard(1))"),
    ],
)
def test_sums_with_more_to_see(operand: str) -> None:
    made = body(f"wait({operand});\nreturn Void();")
    assert made == f"auto operand = {operand};\nco_await std::move(operand);"


def test_each_wait_has_an_operand_of_its_own() -> None:
    text = "int x = wait(h(Guard(1)));\nuse(x);\nif (x) wait(h(Guard(2)));\nreturn Void();"
    assert body(text) == (
        "auto operand = h(Guard(1));\nint x = co_await std::move(operand);\nuse(x);\n"
        "if (x) { auto operand2 = h(Guard(2)); co_await std::move(operand2); }"
    )


def test_nothing_is_declared_in_a_switch() -> None:
    text = (
        "switch (n) {\ncase 1:\n    int x = wait(h(Guard(1)));\n    use(x);\n    wait(h(Guard(2)));\n}\nreturn Void();"
    )
    made = body(text)
    assert "int x = co_await [&] { return h(Guard(1)); }();" in made
    assert "    co_await [&] { return h(Guard(2)); }();" in made


@pytest.mark.parametrize(
    "operand", ["get(self->version())", "get(key())", "Future<Void>(timed_out())", "get(KeyRangeRef(a, b))"]
)
def test_operands_of_which_nothing_need_be_said(operand: str) -> None:
    assert converted(f"ACTOR Future<Void> f(S* self) {{ wait({operand}); return Void(); }}", "idiomatic").codes == []


def test_a_local_that_ends_before_a_future_of_the_actor_is_awaited() -> None:
    text = "Guard x;\nwait(g);\nGuard y;\nif (self) wait(s);\nreturn Void();"
    made = body(f"state Future<Void> s = go();\n{text}")
    assert "xLocal.reset();\nco_await g;" in made
    assert "if (self) { yLocal.reset(); co_await s; }" in made
    for reached in ("keep(g);", "use(&g);", "auto call = [&] { };", "Future<Void>& other = g;"):
        assert "auto operand = g;\n" in body(f"{reached}\n{text}")
    assert "auto operand = self->g;\n" in body("Guard x;\nwait(self->g);\nreturn Void();")


def test_an_aggregate_that_moves_out_of_its_block() -> None:
    text = "if (self) {\n    state Point p = make();\n    wait(g);\n    use(p);\n}\nwait(g);\nreturn Void();"
    assert "Point p{};\n" in body(text, before=PLAIN)
    assert "std::optional<Line> pState;" in body(text.replace("Point", "Line"), before=PLAIN)


def test_an_element_that_dies_in_a_body_without_braces() -> None:
    made = body("for (Guard x : self->all)\n    wait(delay(1));\nreturn Void();")
    assert made.index("xLocal(element);") < made.index("auto operand = delay(1);") < made.index("xLocal.reset();")
