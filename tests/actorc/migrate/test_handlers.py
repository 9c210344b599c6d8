"""Handlers that wait stand behind their `try`: they catch what they caught, and control comes to them alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversions import converted
from test_compiled_tree import compiles
from trees import TOP, migrated

THROWN = """\
using Call = int (*)();
using Chars = const char*;
[[noreturn]] void fail();
void throws();
template <class T> void use(T const& value);
"""
CAUGHT = [
    *("const std::string& e", "std::string const& e", "std::string e", "std::string const e", "const std::string e"),
    *("const char* const& e", "const char* e", "char const* const e", "const volatile void* e", "Chars e", "int*& e"),
    *("Call e", "volatile int& e", "int const volatile e", "const volatile short e", "long", "void const*"),
]
# Control leaves these only by a return or an error; C++ must see that.
ENDS = [
    "try { wait(f); return 1; } catch (int n) { return n; } catch (Error& e) { wait(f); return 2; }",
    "try { wait(f); return 1; } catch (int n) { wait(f); throw; } catch (Error& e) { wait(f); return 2; }",
    "try { wait(f); throw io_error(); } catch (Error& e) { wait(f); throw; } catch (...) { wait(f); return 2; }",
    "try { loop wait(f); } catch (int n) { throw; } catch (...) { wait(f); return 2; }",
    "try { wait(f); fail(); return 1; } catch (int n) { wait(f); fail(); return 2; } catch (...) { throw; }",
    "try { wait(f); return 1; } catch (int n) { wait(f); return 2; }",
    "try { wait(f); return Never(); } catch (int n) { wait(f); return Never(); } catch (...) { wait(f); throw; }",
    "try { try { wait(f); return 1; } catch (int n) { wait(f); throw; } } catch (Error& e) { wait(f); return 2; }",
]


def made_of(tries: list[str]) -> str:
    actors = [f"ACTOR Future<int> f{number}(Future<Void> f) {{\n{body}\n}}\n" for number, body in enumerate(tries)]
    return TOP + THROWN + "".join(actors)


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_compiles_without_a_warning(style: str, tmp_path: Path) -> None:
    caught = [
        f"try {{ throws(); return 1; }} catch ({each}) {{ {'use(e); ' if each[-1] == 'e' else ''}wait(f); return 2; }}"
        for each in CAUGHT
    ]
    migrated(tmp_path, {"a.actor.cpp": made_of([*ENDS, *caught])}, f"--style={style}")
    compiles(tmp_path, "a.cpp")


@pytest.mark.parametrize(
    ("caught", "clause", "local"),
    [
        ("void const* e", "catch (void const* const& e) {", "void const* e = *thrown;"),
        ("int* const e", "catch (int* const& e) {", "int* const e = *thrown;"),
        ("int*& e", "catch (int*& e) {", "int* e = *thrown;"),
        ("int e", "catch (int const& e) {", "int e = *thrown;"),
        ("Foo e", "catch (Foo const& e) {", "Foo e = *std::exchange(thrown, std::nullopt);"),
        ("Foo const& e", "catch (Foo const& e) {", "Foo const& e = *thrown;"),
        ("Foo*", "catch (Foo* const&) {", ""),
    ],
)
def test_what_is_caught(caught: str, clause: str, local: str) -> None:
    text = converted(
        f"ACTOR Future<Void> f() {{ try {{ g(); }} catch ({caught}) {{ use(e); wait(h()); }} return Void(); }}"
    )
    assert clause in text.text
    assert local in text.text


def test_a_last_handler_that_control_must_come_to() -> None:
    first = (
        "ACTOR Future<int> f(Future<Void> g) {\n    try\n    {\n        wait(g);\n        throw io_error();\n    }\n"
    )
    second = "    catch (int n)\n    {\n        wait(g);\n        return 1;\n    }\n"
    third = "    catch (...)\n    {\n        wait(g);\n        return 2;\n    }\n"
    assert "    else\n    {\n        co_await g;\n" in converted(f"{first}{second}{third}}}\n").text
    passing = first.replace("throw io_error", "io_error")
    assert "    else if (caught.isValid())\n    {\n" in converted(f"{passing}{second}{third}    return 3;\n}}\n").text
