"""What C++ takes, both back ends take with both compilers, without a warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from back import BACKENDS, COMPILERS, emitted, syntax_errors

HEAD = (
    '#include "flow/flow.h"\n#include "flow/tasks/generator.h"\n#include <any>\n#include <memory>\n'
    '#include <ranges>\nusing namespace flow;\n#include "flow/actorcompiler.h"\n'
)


def a_list_is_a_result() -> str:
    """That of a name does not give an rvalue of its type; nor does a list show its type, where the source does not."""
    return (
        "using Text = std::string;\n"
        "ACTOR Future<Text> a(std::string text, Future<Void> from) { wait(from); return {text}; }\n"
        "ACTOR template <class T> Future<T> b(T value, Future<Void> from) { wait(from); return {value}; }\n"
        "template Future<Text> b<Text>(Text const&, Future<Void> const&);\n"
        "ACTOR Future<std::string> c(std::string text, Future<Void> from) { wait(from); return {text}; }\n"
        "Future<std::string> d(std::string text) { co_return {text}; }\n"
        "struct Only { Only(int, std::unique_ptr<int>); Only(Only&&); }; struct Parts { int a; std::vector<int> b; };\n"
        "ACTOR Future<Only> e(int n, Future<Void> from) { wait(from); return {n, nullptr}; }\n"
        "ACTOR Future<Parts> f(int n, Future<Void> from) { wait(from); if (n) return {}; return {n, {n, 2}}; }\n"
        "ACTOR Future<std::vector<Parts>> g(int n, Future<Void> from) { wait(from); return {{n, {}}, {2, {n, n}}}; }\n"
        "ACTOR Future<int> h(int n, Future<Void> from) { wait(from); if (n) return {}; return {n}; }\n"
        "ACTOR template <class T> Future<T> i(int n, Future<Void> from) { wait(from); return {n, {n}}; }\n"
        "template Future<Parts> i<Parts>(int const&, Future<Void> const&);\n"
        "ACTOR Future<Void> j(Future<Void> from) { wait(from); return {}; }\n"
    )


def what_one_backend_returns_the_other_returns() -> str:
    """A local that can only be moved, which C++ moves where it is returned, and the operator `,`."""
    only = "std::unique_ptr<int>"
    return (
        f"ACTOR Future<{only}> a(int n, Future<Void> from) {{ wait(from); {only} p(new int(n)); return p; }}\n"
        f"ACTOR Future<{only}> b(Future<Void> from) {{ {only} p; {{ {only} p(new int(1)); wait(from); }} "
        f"{only} q; try {{ return q; }} catch (Error&) {{}} return nullptr; }}\n"
        "ACTOR template <class T> Future<T> c(Future<Void> from) { wait(from); T p = T(); return p; }\n"
        f"template Future<{only}> c<{only}>(Future<Void> const&);\n"
        "ACTOR Future<int> d(int n, Future<Void> from) { wait(from); return ++n, n; }\n"
        "ACTOR Future<Void> e(int n, Future<Void> from) { wait(from); return ++n, Void(); }\n"
        f"ACTOR Future<{only}> f({only} n, Future<Void> from) {{ wait(from); return ( n ); }}\n"
        "struct Made { Made(int); Made(Made&&); Made& operator=(Made&&) = delete; };\n"
        "ACTOR Future<Made> g(Future<Made> f) { state Made x = wait(f); wait(delay(1)); return x; }\n"
    )


def a_lambda_in_a_template_has_no_warning() -> str:
    text = "template <class T> Future<T> f(Future<T> from) { return ACTOR [from]() -> Future<T> {\n"
    text += "    T value = wait(from); return value + value;\n}(); }\ntemplate Future<int> f<int>(Future<int>);\n"
    return text


BY_NAME = [
    "T x = wait(from); return x;",
    "auto x = wait(from); if (x) { return x; } T y = wait(from); return y;",
    "T x = waitNext(stream); try { return x; } catch (Error&) {} return T();",
    "choose { when(T x = wait(from)) { return x; } when(auto x = waitNext(stream)) { return x; } }",
    "wait(delay(1)); if (T x = T()) return x; else if (T y = T(); x == y) return y; return T();",
    "wait(delay(1)); for (T x = T(); x;) { if (*x) return x; } while (T x = T()) return x; return T();",
    "wait(delay(1)); if (T x(new int(1)); x) return x; for (T y = T(), x{new int(1)}; x;) return x; return T();",
    "wait(delay(1)); switch ([[maybe_unused]] T x = T(); *x) { case 1: return x; default: return T(); }",
    "T x = T(); if (T x = T()) { wait(delay(1)); } else { return x; } return T();",
]


def what_is_returned_by_its_name_is_moved(type_: str) -> str:
    actors = [
        f"ACTOR Future<{type_}> actor{number}(Future<{type_}> from, FutureStream<{type_}> stream) "
        f"{{ {re.sub('T(?= |[(])', type_, body)} }}\n"
        for number, body in enumerate(BY_NAME)
    ]
    return "using Alias = std::unique_ptr<int>;\n" + "".join(actors)


CAUGHT = [
    *("const std::string& e", "std::string const& e", "std::string e", "std::string const e", "const std::string e"),
    *("const char* const& e", "const char* e", "char const* const e", "const volatile void* e", "Chars const& e"),
    *("Call e", "volatile int& e", "int const volatile e", "std::any e", "[[maybe_unused]] Error& e"),
]


def all_that_can_be_caught() -> str:
    actors = [
        f"ACTOR Future<int> caught{number}(Future<int> from) {{ try {{ int x = wait(from); return x; }} "
        f"catch ({caught}) {{ return sizeof(e); }} }}\n"
        for number, caught in enumerate(CAUGHT)
    ]
    return "using Call = int (*)(); using Chars = const char*;\n" + "".join(actors)


def an_iterator_need_not_be_made_or_assigned_by_itself() -> str:
    return (
        "struct Iterator { int const n; Iterator(int m) : n(m) {} int operator*() const { return n; } "
        "Iterator& operator++() { return *this; } bool operator!=(Iterator const& o) const { return n != o.n; } };\n"
        "void operator,(Iterator const&, Iterator const&) = delete;\n"
        "struct Range { Iterator begin() { return 1; } Iterator end() { return 3; } };\n"
        "ACTOR Future<Void> a(Range range) { for (int x : range) wait(delay(x)); return Void(); }\n"
        "Generator<int> three();\n"
        "ACTOR Future<Void> b() { state Generator<int> range = three(); for (int x : range) wait(delay(x)); "
        "return Void(); }\n"
    )


def an_iterator_need_not_be_constant_or_compare_to_a_bool() -> str:
    return (
        "struct Answer { explicit operator bool() const; };\n"
        "struct Iterator { int operator*(); void operator++(); Answer operator!=(Iterator const&); };\n"
        "struct Range { Iterator begin(); Iterator end(); };\n"
        "ACTOR Future<Void> a(Range range) { for (int x : range) wait(delay(x)); return Void(); }\n"
        "ACTOR Future<Void> b() { for (int x : Range()) wait(delay(x)); return Void(); }\n"
    )


RANGES = [
    "make([&] { return n; })",
    "make([=] { return n; })",
    "make([n] { return n; })",
    "make([] { return 1; })",
    "v | std::views::filter([](int x) { return x > 1; })",
    "v | std::views::filter([&](int x) { return x > n; }) | std::views::transform([n](int x) { return x + n; })",
    "{[] { return 1; }(), n}",
]


def a_lambda_in_the_range_of_a_loop_that_waits() -> str:
    loops = "".join(f"for (int x : {range_}) {{ if (x) wait(delay(x)); }}\n" for range_ in RANGES)
    body = f"(int n, std::vector<int> v) {{\nstate std::string s;\n{loops}return Void(); }}\n"
    return (
        "template <class F> std::vector<int> make(F f) { return {f()}; }\n"
        f"ACTOR Future<Void> a{body}"
        f"struct X {{ ACTOR static Future<Void> b{body} }};\n"
        f"ACTOR template <class T> Future<Void> c{body}"
        "template Future<Void> c<int>(int const&, std::vector<int> const&);\n"
        f"Future<Void> d(std::vector<int> v) {{\nreturn ACTOR [v](int n) -> Future<Void> {{ {loops}"
        "return Void(); }(1); }\n"
    )


ACCEPTED = (
    a_list_is_a_result(),
    what_one_backend_returns_the_other_returns(),
    a_lambda_in_a_template_has_no_warning(),
    all_that_can_be_caught(),
    an_iterator_need_not_be_made_or_assigned_by_itself(),
    an_iterator_need_not_be_constant_or_compare_to_a_bool(),
    a_lambda_in_the_range_of_a_loop_that_waits(),
    what_is_returned_by_its_name_is_moved("std::unique_ptr<int>"),
    what_is_returned_by_its_name_is_moved("Alias"),
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_is_accepted(compiler: str, backend: str, tmp_path: Path) -> None:
    text = "".join(f"namespace n{number} {{\n{each}}}\n" for number, each in enumerate(ACCEPTED))
    assert syntax_errors(emitted(HEAD + text, backend), compiler, tmp_path) == ""
