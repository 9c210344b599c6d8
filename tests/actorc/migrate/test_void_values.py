"""Templates of which T may be Void: they get a parameter that lets a coroutine take and return a Void."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import trees
from test_compiled_tree import COMPILER, ROOT
from trees import TOP

LATER = (
    "ACTOR template <class T> Future<T> later(Future<T> f) {\n    state T x = wait(f);\n    wait(delay(1));\n"
    "    return x;\n}\n"
)
STORE = (
    "ACTOR template <class T> Future<Void> store(Future<T> f, Promise<T> to) {\n    if (to.isSet())\n"
    "        return wait(delay(1));\n    T x = wait(f);\n    to.send(x);\n    return Void();\n}\n"
)
PASSED = "ACTOR template <class T> Future<T> passed(Future<T> f) {\n    wait(delay(1));\n    return wait(f);\n}\n"
OF_CLASS = (
    "template <class V> struct Box {\n    ACTOR static Future<V> open(Future<V> f) {\n        V v = wait(f);\n"
    "        return v;\n    }\n};\n"
)
HANDLED = (
    "ACTOR template <class T> Future<T> handled(Future<T> f, T other) {\n    try {\n        T x = wait(f);\n"
    "        return x;\n    } catch (Error& e) {\n        if (e.code() == error_code_timed_out)\n"
    "            return other;\n        throw;\n    }\n}\n"
)
USES = """\
template <class T>
void use(Future<T> f, T value, Promise<T> to) {
    (void)(success(later(f)) && store<T>(f, to) && success(passed(f)) && success(handled(f, value)));
    (void)Box<T>::open(f);
}
template void use<int>(Future<int>, int, Promise<int>);
template void use<Void>(Future<Void>, Void, Promise<Void>);
"""


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_they_compile_for_a_void_as_for_an_int(style: str, tmp_path: Path) -> None:
    files = {"a.actor.cpp": TOP + LATER + STORE + PASSED + HANDLED + OF_CLASS + USES}
    text = trees.migrated(tmp_path, files, f"--style={style}")["a.cpp"]
    assert text.count("ExplicitVoid") == 4
    assert "passed(Future<T> f, Propagate = {}) {" in text
    assert "co_return Void();" in text
    command = [COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-fsyntax-only", "a.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    "text",
    [
        "ACTOR template <class T> Future<Optional<T>> f(Future<T> a) {\n    Optional<T> x;\n    return x;\n}\n",
        "ACTOR Future<Reply> f(Future<Reply> a) {\n    Reply x = wait(a);\n    return x;\n}\n",
        "ACTOR template <class T> Future<Void> f(Future<Optional<T>> a) {\n    Optional<T> x = wait(a);\n    (void)x;\n"
        "    return Void();\n}\n",
        "ACTOR template <class T> Future<int> f(Future<T> a) {\n    T x = wait(a);\n    (void)x;\n    return 1;\n}\n",
    ],
    ids=["of an Optional", "a class", "waits for an Optional", "returns an int"],
)
def test_others_do_not_need_it(text: str, tmp_path: Path) -> None:
    assert "ExplicitVoid" not in trees.migrated(tmp_path, {"a.actor.cpp": TOP + text})["a.cpp"]


@pytest.mark.parametrize(
    "text",
    [
        "ACTOR template <class T> Future<T> later(Future<T> f);\n" + LATER,
        LATER + "auto pointer = &later<int>;\n",
        LATER.replace("Future<T> f)", "Future<T> f, A... rest)").replace("class T>", "class T, class... A>"),
    ],
    ids=["declared before", "a pointer", "a pack"],
)
def test_one_that_cannot_have_it_is_told(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ExplicitVoid" not in trees.migrated(tmp_path, {"a.actor.cpp": TOP + text})["a.cpp"]
    assert "H21: it does not compile where `T` is Void" in capsys.readouterr().out


def test_a_call_with_template_arguments_is_a_call(tmp_path: Path) -> None:
    text = LATER + "Future<int> g() { return later<int>(1); }\n"
    assert "ExplicitVoid" in trees.migrated(tmp_path, {"a.actor.cpp": TOP + text})["a.cpp"]
