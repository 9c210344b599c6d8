"""Facts that the text of a type, a condition or an initialiser shows."""

from __future__ import annotations

import pytest

from actorc.spelling import (
    by_reference,
    callable_type,
    declared_names,
    declares,
    is_trivial,
    is_void,
    is_void_value,
    may_read_as_parameters,
    one_line,
)


def test_one_line_keeps_literals() -> None:
    assert one_line("a /* x */ +\n  // y\n  \"b  //  c\" + ' '") == "a + \"b  //  c\" + ' '"
    assert one_line('R"x(a  "  b)x"  +  1\'000') == 'R"x(a  "  b)x" + 1\'000'


@pytest.mark.parametrize("type_", ["int", "unsigned long", "std::size_t", "char const*", "X*", "bool", "uint8_t"])
def test_trivial(type_: str) -> None:
    assert is_trivial(type_)


@pytest.mark.parametrize("type_", ["X", "std::string", "std::vector<int>", "T", "X&", ""])
def test_not_known_to_be_trivial(type_: str) -> None:
    assert not is_trivial(type_)


@pytest.mark.parametrize(
    ("type_", "spelling"),
    [
        ("int", "int"),
        ("std::vector<int*>", "std::vector<int*>"),
        ("unsigned long", "std::type_identity_t<unsigned long>"),
        ("const char*", "std::type_identity_t<const char*>"),
        ("std::vector<int>*", "std::type_identity_t<std::vector<int>*>"),
        ("std::map<int, X>::iterator", "std::map<int, X>::iterator"),
    ],
)
def test_callable_type(type_: str, spelling: str) -> None:
    assert callable_type(type_) == spelling


@pytest.mark.parametrize(
    "text",
    [
        "auto x = f()",
        "X* p = g()",
        "X *p = g()",
        "const X& r = g()",
        "std::map<int, X> m = g()",
        "X x; x > 0",
        "X x{1}",
    ],
)
def test_conditions_that_declare(text: str) -> None:
    assert declares(text)


@pytest.mark.parametrize(
    "text", ["x == 1", "a < b", "a <= b", "x = f()", "a && b == c", "f(\"a; b\", ';')", "[] { x; }()", "a->b = c", "!x"]
)
def test_conditions_that_do_not(text: str) -> None:
    assert not declares(text)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("X x = f()", "x"),
        ("X x{f(), 2}", "x"),
        ("X x(f()); x", "x"),
        ("[[maybe_unused]] X x = f(); x", "x"),
        ("alignas(8) X x(1); x", "x"),
        ("X a = f(1, c), b(2), d, *e = g<h>; a", "a b d e"),
        ("std::map<int, std::vector<X>> const x{{1, {}}}; x.size() > 2", "x"),
        ("X& x = f()", "x"),
        ("int x = f()", ""),
        ("X* x = f()", ""),
        ("static X x(f()); x", ""),
        ("not x(1)", ""),
        ("a and b(1)", ""),
        ("a * b(1); a", ""),
        ("a && b(1)", ""),
        ("a < b > (c)", ""),
        ("f(X x = 1); g(x, y(1))", ""),
        ("x = f(), y = 2; y", ""),
        ("auto [a, b] = f()", ""),
    ],
)
def test_names_that_a_head_declares(head: str, names: str) -> None:
    assert list(declared_names(head)) == names.split()


def test_void() -> None:
    assert is_void("Void")
    assert is_void("flow::Void")
    assert not is_void("Voids")
    assert is_void_value("Void ( )")
    assert is_void_value("::flow::Void{}")
    assert not is_void_value("f(), Void()")


def test_initialisers_that_look_like_parameters() -> None:
    assert may_read_as_parameters("X()", is_one=False)
    assert may_read_as_parameters("std::map<int, int>()", is_one=True)
    assert not may_read_as_parameters("1, X()", is_one=False)
    assert not may_read_as_parameters("a + b", is_one=True)


@pytest.mark.parametrize(
    ("type_", "mark"),
    [
        ("int", " const&"),
        ("int const volatile", "&"),
        ("void const*", " const&"),
        ("const volatile void*", " const&"),
        ("char const* const", "&"),
        ("char const*&", ""),
    ],
)
def test_what_catches_the_same_by_reference(type_: str, mark: str) -> None:
    assert by_reference(type_) == mark
