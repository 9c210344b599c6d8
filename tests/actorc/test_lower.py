"""Lowering: what holds for every lowered body, and how locals and waits are laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from back import PROGRAMS
from front import sound

from actorc.lower.labels import plan
from actorc.lower.lower import lower
from actorc.lower.lowered import (
    Body,
    Branches,
    Code,
    Goto,
    Handler,
    If,
    IfFailed,
    Label,
    Loop,
    Node,
    Operand,
    Return,
    Scope,
    Suspend,
    Switch,
    Try,
)
from actorc.syntax import Choose, Wait, walk
from fuzzlib.generate import program


def nodes(node: Node) -> Iterator[Node]:
    yield node
    inner: tuple[Node, ...] = ()
    match node:
        case Scope(body=body):
            inner = body
        case Loop(body=scope) | Switch(body=scope) | Try(body=scope) | Handler(body=scope):
            inner = (scope,)
        case If(then=then, orelse=orelse):
            inner = (then,) if orelse is None else (then, orelse)
        case Branches(bodies=bodies):
            inner = bodies
    for each in inner:
        yield from nodes(each)


def bodies(text: str) -> list[tuple[Body, int]]:
    """Each actor's lowered body, and how many waits it has in the source."""
    file, source = sound(text)
    found = []
    for actor in file.actors:
        if actor.body is not None:
            waits = sum(isinstance(inner, Wait | Choose) for inner in walk(actor.body))
            found.append((lower(actor, source), waits))
    return found


def body(text: str) -> Body:
    head = "ACTOR Future<Void> test(Future<Void> f, int k) {\n"
    return bodies(f"{head}{text}\nreturn Void();\n}}\n")[0][0]


def check(lowered: Body, waits: int) -> None:
    """Each suspension is printed once, each label once, and each jump has a label."""
    all_nodes = list(nodes(lowered.code))
    suspensions = [node for node in all_nodes if isinstance(node, Suspend)]
    assert sorted(node.number for node in suspensions) == list(range(1, waits + 1))
    labels = Counter(node.label for node in all_nodes if isinstance(node, Suspend | Label | Handler))
    assert all(count == 1 for count in labels.values())
    assert all(node.label in labels for node in all_nodes if isinstance(node, Goto))
    for resumes in (True, False):
        plan(lowered.code, resumes=resumes)


@pytest.mark.parametrize("program_path", PROGRAMS, ids=lambda path: path.name)
def test_programs(program_path: Path) -> None:
    for lowered, waits in bodies(program_path.read_text(encoding="utf-8")):
        check(lowered, waits)


@pytest.mark.parametrize("seed", range(20))
def test_random_actors(seed: int) -> None:
    for index in range(10):
        for lowered, waits in bodies(program(1000 + seed, index)):
            check(lowered, waits)


# ---------------------------------------------------------------------------------------------------------------


def operands(lowered: Body) -> int:
    return sum(isinstance(node, Operand) for node in nodes(lowered.code))


def jumps(lowered: Body) -> list[str]:
    return sorted(str(node.label) for node in nodes(lowered.code) if isinstance(node, Goto))


def scopes_around(lowered: Body, text: str) -> int:
    """How many scopes enclose the code with this text."""

    def depth(node: Node) -> int | None:
        if isinstance(node, Code):
            return 0 if text in str(node.pieces) else None
        for inner in list(nodes(node))[1:]:
            found = depth(inner) if inner is not node else None
            if found is not None:
                return found + isinstance(node, Scope)
        return None

    found = depth(lowered.code)
    assert found is not None
    return found


def test_no_locals_no_jumps() -> None:
    lowered = body("loop { if (k) { wait(f); } else { try { wait(f); } catch (Error&) { break; } } }")
    assert jumps(lowered) == []
    assert operands(lowered) == 2


def test_a_run_ends_before_its_wait_suspends() -> None:
    lowered = body("int n = k; use(n); wait(f); k++;")
    run, suspend = lowered.code.body[:2]
    assert isinstance(run, Scope)
    assert isinstance(run.body[-1], Operand)
    assert isinstance(suspend, Suspend)
    assert jumps(lowered) == []


def test_a_trivial_local_does_not_duplicate_what_follows() -> None:
    lowered = body("int n = k; if (n) { wait(f); } k++; wait(f);")
    assert jumps(lowered) == ["after1", "wait1"]
    assert operands(lowered) == 2


def test_a_local_with_a_destructor_lives_on_where_nothing_waits() -> None:
    lowered = body("Token t; if (k) { wait(f); } k++; wait(f);")
    assert jumps(lowered) == ["wait1", "wait2"]
    assert operands(lowered) == 3  # the second wait is evaluated with and without `t`
    assert sum("k++" in str(node.pieces) for node in nodes(lowered.code) if isinstance(node, Code)) == 2


def test_what_cannot_be_reached_after_a_wait_is_not_printed_again() -> None:
    lowered = body("Token t; if (k) { wait(f); return Void(); } k++; wait(f);")
    assert operands(lowered) == 2
    assert jumps(lowered) == ["wait1", "wait2"]


def test_a_loop_behind_a_trivial_local_is_left_whole() -> None:
    lowered = body("int n = k; for (k = n; k < 3; k++) { wait(f); }")
    loops = [node for node in nodes(lowered.code) if isinstance(node, Loop)]
    assert len(loops) == 1
    assert loops[0].head[1] == "; "  # what comes before the loop may use `n`


def test_a_loop_behind_a_destructor_is_printed_twice() -> None:
    lowered = body("Token t; while (k--) { use(); wait(f); }")
    assert sum(isinstance(node, Loop) for node in nodes(lowered.code)) == 2
    assert "wait1" in jumps(lowered)


def test_a_jump_into_a_try_goes_by_its_front() -> None:
    lowered = body("Token t; try { if (k) { wait(f); } } catch (Error&) {}")
    through = list(plan(lowered.code, resumes=False).through.values())
    assert [(case.code, case.arrives) for case in through] == [(-1, False)]


def test_a_variable_in_a_condition_is_a_local() -> None:
    lowered = body("if (Token t(k); k) { wait(f); } else { k++; }")
    assert jumps(lowered) == ["after1", "wait1"]


def texts(lowered: Body) -> list[str]:
    return ["".join(getattr(piece, "text", piece) for piece in node.pieces)
            for node in nodes(lowered.code) if isinstance(node, Code)]  # fmt: skip


def test_the_locals_of_a_section_end_before_the_next_label() -> None:
    lowered = body("switch (k) { case 1: int n = k; wait(f); break; case 2: Token t; default: g(); }")
    [switch] = [node for node in nodes(lowered.code) if isinstance(node, Switch)]
    kinds = [type(node) for node in switch.body.body]
    assert kinds == [Code, Scope, Code, Scope, Code, Code]
    assert texts(lowered)[:1] == ["case 1:"]


def test_a_switch_is_printed_without_labels_where_only_jumps_arrive() -> None:
    lowered = body("Token t; switch (k) { case 1: wait(f); [[fallthrough]]; case 2: g(); }")
    first, second = (node for node in nodes(lowered.code) if isinstance(node, Switch))
    assert first.head[0] == "switch ("
    assert second.head == ("switch (0)",)
    assert [text for text in texts(lowered) if text.endswith(":")] == ["case 1:", "case 2:", "default:"]
    assert texts(lowered).count("g();") == 2


def test_falling_through_is_said_where_a_label_follows() -> None:
    lowered = body("switch (k) { case 1: wait(f); /* falls through */ case 2: wait(f); [[fallthrough]]; case 3: g(); }")
    assert texts(lowered).count("[[fallthrough]];") == 2


def test_a_switch_without_waits_and_returns_is_copied() -> None:
    text = "switch (k) { case 1: g(); [[fallthrough]]; default: if (k) { break; } h(); }"
    assert texts(body(text + " wait(f);"))[0] == text


def test_an_error_passes_by_clauses_of_other_types() -> None:
    lowered = body("try { try { wait(f); } catch (T& x) { g(); } } catch (Error& e) { h(); }")
    outer, inner = (node for node in nodes(lowered.code) if isinstance(node, Try))
    assert [catch.type is None for catch in outer.catches] == [True]
    assert [catch.is_error for catch in inner.catches] == [False]
    [failed] = [node for node in nodes(lowered.code) if isinstance(node, IfFailed)]
    assert failed.handler == outer.catches[0].handler


def test_a_wait_throws_exceptions_again_where_a_clause_names_a_type() -> None:
    cases = {
        "try { wait(f); } catch (T& x) { g(); }": True,
        "try { wait(f); } catch (Error& e) { g(); }": False,
        "try { wait(f); } catch (Error& e) { g(); } catch (T& x) { h(); }": True,
        "try { try { wait(f); } catch (Error& e) { g(); } } catch (T& x) { h(); }": False,
        "try { try { wait(f); } catch (T& x) { g(); } } catch (Error& e) { h(); }": True,
        "try { g(); } catch (T& x) { wait(f); }": False,
    }
    for text, rethrows in cases.items():
        lowered = body(text)
        [failed] = [node for node in nodes(lowered.code) if isinstance(node, IfFailed)]
        assert failed.rethrows == rethrows, text
        assert lowered.propagates == (not rethrows and failed.handler is None), text


def test_clauses_are_native_in_their_order_and_errors_take_the_rest() -> None:
    [found] = [node for node in nodes(body("try { wait(f); } catch (const Error&) {} catch (A&) {} catch (B) {}").code)
               if isinstance(node, Try)]  # fmt: skip
    types = [None if catch.type is None else "".join(getattr(piece, "text", piece) for piece in catch.type)
             for catch in found.catches]  # fmt: skip
    assert types == ["flow::Error const&", "A&", "B const&", None]
    assert found.catches[0].handler == found.catches[3].handler


def test_an_error_is_a_state_only_if_it_is_passed_on_after_a_wait() -> None:
    early = "try { wait(f); } catch (Error& e) { if (k) throw; wait(f); }"
    late = "try { wait(f); } catch (Error& e) { wait(f); if (k) throw; }"
    loop = "try { wait(f); } catch (Error& e) { do { if (k) throw; wait(f); } while (k); }"
    inner = "try { wait(f); } catch (Error& e) { wait(f); try { g(); } catch (Error& x) { throw; } }"
    assert [state.name for text in (early, late, loop, inner) for state in body(text).states] == ["kept1__", "kept1__"]


def test_what_a_range_is_kept_in() -> None:
    lowered = body("state V v; for (auto x : v) wait(f); for (auto x : g(v)) wait(f); for (int x : {1, 2}) wait(f);")
    assert [(state.name, state.type.text) for state in lowered.states[1:]] == [
        ("iter1__", "flow::IteratorOf<decltype((v))>"),
        ("range2__", "flow::RangeState<decltype((g(v)))>"),
        ("range3__", "flow::RangeState<decltype((flow::listOf({1, 2})))>"),
    ]
    assert [text for text in texts(lowered) if "clear" in text] == ["range2__.clear();", "range3__.clear();"]


@pytest.mark.parametrize(
    ("range_", "is_spelled_once"),
    [
        ("g([] { return 1; })", True),
        ("g(v, [&](int x) { return x; })", True),
        ("v | each([n = 1] { return n; })", True),
        ("[] { return v; }()", True),
        ("g(ACTOR [n]() -> Future<Void> { wait(delay(n)); return Void(); })", True),
        ("v[0]", False),
        ("g(v) [0][1]", False),
        ('g(v, "([")', False),
    ],
)
def test_a_range_with_a_lambda_is_spelled_once(range_: str, is_spelled_once: bool) -> None:
    (state,) = body(f"for (auto x : {range_}) wait(f);").states
    assert (state.type.text == "flow::AnyRange") is is_spelled_once


def declared(text: str) -> list[str]:
    return [f"{state.slot} {state.type.text} {state.name}{state.extents}".strip() for state in body(text).states]


def test_a_state_that_does_not_come_first_may_be_in_a_slot() -> None:
    assert declared("state T a = g(); state const T b = h(); wait(f);") == ["T a", "const T b"]
    assert declared("wait(f);\nstate T a = g(); state std::vector<T> b = h(); state T c; state T* d = &e;") == [
        "flow::StateSlot<T, 3> flow::StateOf<T> a", "std::vector<T> b",
        "flow::StateSlot<T, 3> flow::StateOf<T> c", "T* d",
    ]  # fmt: skip
    assert declared("wait(f); state const T a = g(); state T const b; state const char* c = h();") == [
        "flow::StateSlot<const T, 0, false> const T& a", "flow::StateSlot<T const, 0, false> T const& b",
        "const char* c",
    ]  # fmt: skip
    member = "Future<Void> a(Future<Void> f) { wait(f); state T b = g(); state const T c = g(); return Void(); }"
    [(in_class, _)] = bodies(f"struct X {{ ACTOR static {member} }};")
    assert [state.slot for state in in_class.states] == ["", "flow::StateSlot<const T, 0, false>"]


def test_what_a_state_declaration_does() -> None:
    lowered = body(
        "wait(f); state T a = g(); state T b(1); state const T c{2}; state const T d; state int e[2][3] = {{1}, {2}};"
        ' state int v[3]; state char h[4] = "abc"; state int i(3); state std::string j;'
    )
    assert texts(lowered) == [
        "a_slot__.of(a) = g();",
        "b_slot__.of(b) = T(1);",
        "c_slot__.of(c) = std::remove_const_t<const T>{2};",
        "d_slot__.renew(d);",
        "flow::assignArray(e, flow::ArrayValue<int[2][3]>{{{1}, {2}}});",
        "flow::assignArray(v, flow::ArrayValue<int[3]>{{}});",
        'flow::assignArray(h, flow::ArrayValue<char[4]>{{"abc"}});',
        "i = int(3);",
        "j = std::string();",
    ]


def test_only_what_the_actor_owns_is_moved_into_the_result() -> None:
    text = "state T& a = g(); state T b; state T c[2]; wait(f); state T d = g(); if (k) return a; if (k) return b;"
    lowered = body(text + "if (k) return c; if (k) return d;")
    returns = [node for node in nodes(lowered.code) if isinstance(node, Return)]
    assert [node.is_moved for node in returns] == [False, True, False, False, False]
    last = returns[3].value
    assert last is not None
    assert "".join(getattr(piece, "text", piece) for piece in last) == "d_slot__.moved(d)"


def test_a_static_local_that_is_printed_twice_is_kept_in_one_place() -> None:
    loop = "{ static std::pair<int, T> n(1, k); static const T& m = g(); static int i; use(n); wait(f); }"
    assert body(f"while (k) {loop}").statics == ()
    lowered = body(f"Token t; while (k) {loop}")
    assert lowered.statics == tuple(
        (f"flow::StaticLocal<{kind}>", f"static{number}__")
        for number, kind in enumerate(("std::pair<int, T>", "const T&", "int"), 1)
    )
    made = [text for text in texts(lowered) if "static" in text]
    assert made[:3] == made[3:]
    assert made[0] == (
        "[[maybe_unused]] auto& n = static1__.get([&]() -> std::pair<int, T> { return std::pair<int, T>(1, k); });"
    )
    assert made[1].endswith("-> const T& { return g(); });")
    assert made[2].endswith("-> int { return int(); });")
    inside = body("Token t; while (k) { if (k) { static int n = 1; n++; } wait(f); }")
    assert sum("static1__.get" in text for text in texts(inside)) == 2


def test_a_member_does_not_tell_the_type_of_a_range_in_a_class_that_is_not_complete() -> None:
    text = "ACTOR static Future<Void> a(X* self) { for (auto& x : self->items) wait(delay(x)); return Void(); }"
    [(inside, _)] = bodies(f"struct X {{ {text} }};")
    [(outside, _)] = bodies(text)
    assert [state.is_erased for state in (*inside.states, *outside.states)] == [True, False]


def test_an_error_lets_go_of_the_ranges_of_the_loops_that_it_leaves() -> None:
    lowered = body("try { for (auto x : g()) { for (auto y : h()) wait(f); } } catch (Error& e) { k++; }")
    assert "range2__.clear(); range1__.clear();" in texts(lowered)


def test_states_are_in_the_order_of_their_declarations() -> None:
    lowered = body(
        "state int a = 1; wait(f); for (state int b = 0; b < 3; b++) { state int c; wait(f); }\n"
        "choose { when(state int d = wait(g())) { state int e; } }\n"
        "state std::vector<int> v; for (int x : v) { wait(f); }"
    )
    assert [state.name for state in lowered.states] == ["a", "b", "c", "d", "e", "v", "iter1__"]
    assert lowered.states[0].init is not None
    assert all(state.init is None for state in lowered.states[1:])
