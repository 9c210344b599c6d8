"""Hazards in the text of an actor: which are reported, where, and what is done about them."""

from __future__ import annotations

import pytest
from conversions import Converted, converted


def idiomatic(body: str, target: str = "flow") -> Converted:
    return converted(
        f"ACTOR Future<int> f(Future<int> g, Server* self) {{\n{body}\nreturn 1;\n}}\n", "idiomatic", target
    )


def exact(body: str, target: str = "flow") -> Converted:
    return converted(f"ACTOR Future<int> f(Future<int> g, Server* self) {{\n{body}\nreturn 1;\n}}\n", "exact", target)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("wait(success(g));", "co_await g;"),
        ("wait(flow::success(g));", "co_await g;"),
        ("wait(success(g && self->get(1, 2)));", "co_await (g && self->get(1, 2));"),
        ("if (self) wait(success(g));", "if (self) co_await g;"),
        ("wait(store(self->x, self->get(1, 2)));", "self->x = co_await self->get(1, 2);"),
        ("wait(store(self->at(1, 2), g));", "self->at(1, 2) = co_await g;"),
        ("if (self) wait(store(self->x, g)); // why", "if (self) self->x = co_await g; // why"),
    ],
)
def test_waits_without_a_helper(before: str, after: str) -> None:
    found = idiomatic(before)
    assert f"\n{after}\n" in found.text
    assert found.codes == ["H12"]
    assert found.note("H12").instead == f"co_await {before[before.index('wait(') + 5 : before.rindex(')')]};"
    kept = exact(before)
    assert before.partition("wait(")[2].split("(")[0] in kept.text
    assert kept.codes == []


@pytest.mark.parametrize(
    ("before", "flow", "foundationdb"),
    [
        ("ErrorOr<int> x = wait(errorOr(g));", "ErrorOr<int> x = co_await tryGet(g);", "coro::errorOr(g);"),
        ("ErrorOr<int> x = wait(flow::errorOr(g));", "ErrorOr<int> x = co_await flow::tryGet(g);", "coro::errorOr(g);"),
        ("wait(success(errorOr(g)));", "co_await tryGet(g);", "co_await coro::ignore(g);"),
        ("ErrorOr<int> x = wait(mine::errorOr(g));", "co_await mine::errorOr(g);", "co_await mine::errorOr(g);"),
        ("ErrorOr<int> x = wait(errorOr(g, 1));", "co_await errorOr(g, 1);", "co_await errorOr(g, 1);"),
    ],
)
def test_an_error_as_a_value(before: str, flow: str, foundationdb: str) -> None:
    assert flow in idiomatic(before).text
    assert foundationdb in idiomatic(before, "foundationdb").text
    assert "errorOr(g" in exact(before).text


@pytest.mark.parametrize(
    "body",
    [
        "wait(success(g) && self->done());",
        "wait(mine::success(g));",
        "wait(self->store(self->x, g));",
        "wait(store(self->x, g, 3));",
        "choose { when(wait(success(g))) { } when(wait(self->done())) { } }",
    ],
)
def test_other_functions_stay(body: str) -> None:
    found = idiomatic(body)
    assert "H12" not in found.codes
    assert "success(g)" in found.text or "store(self->x, g" in found.text


def test_state_of_a_loop() -> None:
    body = "while (self) {\n    state std::vector<Future<Void>> running;\n    wait(delay(1));\n}"
    found = idiomatic(body)
    assert found.codes == ["H10"]
    assert found.note("H10").message.startswith("`running` is destroyed at the end of each pass")
    assert "declare `running`" in found.note("H10").instead
    assert exact(body).codes == []


def test_state_of_another_block() -> None:
    found = idiomatic("if (self) {\n    state std::vector<Future<Void>> running;\n    wait(delay(1));\n}")
    assert found.codes == ["H1"]


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_swallowed_cancel(style: str) -> None:
    body = "loop {\n    try {\n        wait(delay(1));\n    } catch (Error& e) {\n    }\n}"
    found = converted(f"ACTOR Future<Void> f() {{\n{body}\n}}\n", style)
    assert "this loop cannot be cancelled" in found.note("H13").message
    allowed = body.replace("    } catch", "    // actorc: allow A0603\n    } catch")
    assert "H13" not in converted(f"ACTOR Future<Void> f() {{\n{allowed}\n}}\n", style).codes
    passed = body.replace("(Error& e) {", "(Error& e) {\n        if (e.code() == error_code_actor_cancelled) throw;")
    assert "H13" not in converted(f"ACTOR Future<Void> f() {{\n{passed}\n}}\n", style).codes


@pytest.mark.parametrize(
    ("operand", "made"),
    [
        ("self->write(Guard(self))", "Guard"),
        ("with(guard_t())", "guard_t"),
        ("with(makeGuard())", "makeGuard"),
        ("with(ns::makeGuard(1))", "ns::makeGuard"),
        ("with(std::make_shared<Guard>())", "std::make_shared<Guard>"),
        ("with(static_cast<Guard>(x))", "static_cast<Guard>"),
        ("makeGuard().done()", "makeGuard"),
        ("g && with(1, makeGuard())", "makeGuard"),
    ],
)
def test_temporaries(operand: str, made: str) -> None:
    found = idiomatic(f"wait({operand});")
    assert found.codes == ["H19"]
    assert found.note("H19").message.startswith(f"what `{made}` makes lives until")
    assert found.note("H19").instead == f"co_await [&] {{ return {operand}; }}();"
    assert exact(f"wait({operand});").codes == []


@pytest.mark.parametrize(
    "operand",
    [
        "makeGuard()",
        "(self->done() || makeGuard())",
        "self->write(Key(), g.get(), Future<int>(3), std::vector<int>(3), std::move(x), static_cast<int>(2.5))",
        "self->write(text.size(), delay(1), new Guard(1), sizeof(int), declared(3), std::to_string(2))",
        "x ? with(makeGuard()) : g",  # which stands in a lambda
    ],
)
def test_no_temporaries_of_which_one_can_tell(operand: str) -> None:
    text = f"Future<int> declared(int n);\nACTOR Future<int> f(Future<int> g) {{\nwait({operand});\nreturn 1;\n}}\n"
    assert converted(text, "idiomatic").codes == []


LOCAL = "`x` still exists after the next co_await; an actor's local is destroyed there"


@pytest.mark.parametrize(
    "body",
    [
        "std::shared_ptr<Guard> x = wait(self->guard);\nwait(delay(1));",
        "auto x = wait(self->guard);\nif (self) {\n    wait(delay(1));\n}",
        "choose { when(Guard x = wait(self->guard)) { use(x); wait(delay(1)); } when(wait(self->stop)) {} }",
        "choose { when(Guard x = wait(self->guard)) { wait(delay(1)); } when(wait(self->stop)) {} }",
        "while (Guard x = self->next()) {\n    wait(delay(1));\n}",
        "for (; Guard x = self->next();) {\n    wait(delay(1));\n}",
    ],
)
def test_locals_that_a_wait_ends(body: str) -> None:
    assert idiomatic(body).note("H2").message == LOCAL
    assert exact(body).codes == []
    assert "H2" not in idiomatic(body.replace("wait(delay(1));", "use(x);")).codes
    harmless = body.replace("std::shared_ptr<Guard>", "int").replace("Guard", "int").replace("auto", "std::string")
    assert "H2" not in idiomatic(harmless).codes


@pytest.mark.parametrize(
    "use", ["p = &x;", "self->keep(&x);", "auto f = [&] { x++; };", "auto f = [self, &x] { x++; };"]
)
def test_addresses_of_states_in_blocks(use: str) -> None:
    body = f"if (self) {{\n    state int x = 5;\n    {use}\n    wait(delay(1));\n}}"
    assert (
        "`x` is destroyed at the end of its block, and its address may be kept; as a state"
        in idiomatic(body).note("H1").message
    )
    loop = idiomatic(body.replace("if (self)", "while (self)"))
    assert "is destroyed at the end of each pass, and its address may be kept" in loop.note("H10").message
    assert exact(body).codes == []
    assert idiomatic(body.replace(use, "self->add(x);")).codes == []


def test_awaited_members() -> None:
    names = ("self->count", "own", "g")
    waits = (f"int x{i} = wait({name});\nuse(x{i});" for i, name in enumerate(names))
    body = "\n".join(("state Future<int> own = g;", *waits))
    made = exact(body, "foundationdb")
    assert "int x0 = co_await [&] { return self->count; }();\n" in made.text
    assert "int x1 = co_await own;\n" in made.text
    assert "int x2 = co_await g;\n" in made.text
    assert "H17" not in made.codes
    found = idiomatic(body, "foundationdb")
    assert "int x0 = co_await self->count;" in found.text
    assert found.note("H17").instead == "co_await [&] { return self->count; }()"
    assert "H17" not in idiomatic(body).codes
    assert "int x0 = co_await self->count;" in exact(body).text


def test_awaited_member_of_a_choice_of_one() -> None:
    body = "choose { when(wait(self->stop)) {} }"
    assert "{ co_await [&] { return self->stop; }(); }" in exact(body, "foundationdb").text
    found = idiomatic(body, "foundationdb")
    assert "{ co_await self->stop; }" in found.text
    assert found.note("H17").instead == "co_await [&] { return self->stop; }()"


def test_awaited_local_that_others_reach() -> None:
    body = "state Future<int> own = g;\nself->keep(&own);\nint y = wait(own);"
    assert "H17" in idiomatic(body, "foundationdb").codes


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_parameters_of_a_library_that_keeps_them(style: str) -> None:
    text = (
        "ACTOR Future<int> f(int n, Lock lock, Server* self, Promise<int> p) {\n    wait(delay(n));\n    return 1;\n}\n"
    )
    note = converted(text, style, "foundationdb").note("H15")
    assert note.message.startswith("`lock` and `p` live as long as")
    assert "`Lock own(std::move(lock));`" in note.instead
    assert "H15" not in converted(text, style).codes
    assert (
        "H15"
        not in converted(text.replace("Lock lock, ", "").replace(", Promise<int> p", ""), style, "foundationdb").codes
    )
    case = 'TEST_CASE("/a/b") {\n    wait(delay(1));\n    return Void();\n}\n'
    assert "H15" not in converted(case, style, "foundationdb").codes
    runs_on = text.replace("Future<int> f", "void f").replace("return 1;", "")
    assert "H15" not in converted(runs_on, style, "foundationdb").codes


@pytest.mark.parametrize("handler", ["wait(delay(1));", "self->next();"])
def test_exceptions_that_are_no_errors(handler: str) -> None:
    body = f"try {{\n    wait(delay(1));\n}} catch (Error& e) {{\n    {handler}\n}}"
    assert idiomatic(body).codes == ["H18"]
    assert idiomatic(f"{body} catch (...) {{\n    throw;\n}}").codes == []
    assert exact(body).codes == []


def test_a_race_of_futures() -> None:
    body = """\
    int operand1 = 0;
    choose {
        when(wait(self->stop)) {}
        when(x = wait(self->get(operand1))) {}
        when(auto y = waitNext(self->next(Name()))) {}
        when(int z = wait(Never())) {}
        when(wait(self->stop)) {}
    }"""
    found = exact(body, "foundationdb")
    assert "H6" not in found.codes
    made = """\
    {
        PromiseStream<std::decay_t<decltype((self->next(Name())).pop())>> never2;
        std::decay_t<decltype(self->next(Name()))> operand2 = never2.getFuture();
        std::decay_t<decltype(self->get(operand1))> operand12 = Never();
        Future<Void> operand0 = self->stop;
        if (!operand0.isReady()) {
            operand12 = self->get(operand1);
            if (operand12.isReady()) {
                operand0 = Never();
            } else {
                operand2 = self->next(Name());
                if (operand2.isReady() || self->stop.isReady()) {
                    operand0 = Never();
                    operand12 = Never();
                }
            }
        }
        if (auto chosen = co_await race(std::move(operand0), std::move(operand12), std::move(operand2), \
Future<int>(Never()), self->stop); chosen.index() == 0) {} else"""
    assert made in found.text


@pytest.mark.parametrize(
    ("around", "may_be_cancelled"),
    [
        ("{}", False),
        ("if (x) {{ {} }}", False),
        ("while (x) {{ {} }}", True),
        ("wait(delay(1)); {}", True),
        ("choose {{ when(wait(delay(1))) {{ {} }} }}", True),
    ],
)
def test_what_an_actor_that_was_cancelled_makes(around: str, may_be_cancelled: bool) -> None:
    """One that has not waited yet has not been cancelled."""
    body = around.format("choose { when(wait(self->get(1))) {} when(wait(self->get(2))) {} }")
    assert ("co_await Future<Void>(Void());" in exact(body, "foundationdb").text) is may_be_cancelled
    assert "co_await Future<Void>(Void());" not in idiomatic(body, "foundationdb").text
    runs_on = converted(f"ACTOR void f(Server* self, int x) {{ {body} }}\n", "exact", "foundationdb")
    assert "if (!operand0.isReady())" in runs_on.text
    assert "co_await Future<Void>(Void());" not in runs_on.text


def test_operands_while_locals_are_alive() -> None:
    """They are destroyed after all operands are evaluated, and before the losers."""
    body = """\
    wait(delay(1));
    Guard guard;
    choose {
        when(wait(g)) {}
        when(wait(self->get(1))) {}
    }"""
    made = """\
        if (!operand0.isReady()) {
            try {
                co_await Future<Void>(Void());
            } catch (...) {
                guardLocal.reset();
                throw;
            }
            operand1 = self->get(1);
            if (operand1.isReady()) {
                guardLocal.reset();
                operand0 = Never();
            }
        }
        guardLocal.reset();
        if (auto chosen = co_await race(std::move(operand0), std::move(operand1)); chosen.index() == 0) {} else {}"""
    assert made in exact(body, "foundationdb").text


def test_a_race_of_what_can_be_made_at_once() -> None:
    body = "choose { when(wait(self->stop)) {} when(int x = wait(self->get(1))) { use(x); } }"
    assert "race(self->stop, self->get(1))" in idiomatic(body, "foundationdb").text
    assert idiomatic(body).note("H6").instead.startswith("[&]")
    assert "[&]" not in idiomatic(body, "foundationdb").note("H6").instead  # which that library does not have
    assert "race(self->stop, [&] { return self->get(1); })" in exact(body).text


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_a_template_whose_result_may_be_void(style: str) -> None:
    text = "ACTOR template <class T> Future<T> f(Future<T> g) {\n    T x = wait(g);\n    return x;\n}\n"
    assert "where `T` is Void" in converted(text, style, "foundationdb").note("H21").message
    assert "H21" not in converted(text.replace("Future<T> f", "Future<int> f"), style, "foundationdb").codes


def test_what_never_comes_is_returned() -> None:
    text = "ACTOR Future<int> f(Future<Void> g) {\n    wait(g);\n    return Never();\n}\n"
    assert "co_return co_await Future<int>(Never());" in converted(text, "exact", "foundationdb").text
    text = text.replace("<int>", "<Void>")
    assert "\n    co_await Future<Void>(Never());" in converted(text, "exact", "foundationdb").text
