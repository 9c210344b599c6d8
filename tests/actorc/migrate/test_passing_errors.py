"""Actors without handlers: a last parameter says that errors end the coroutine without a C++ exception."""

from __future__ import annotations

from pathlib import Path

import pytest
import trees
from trees import TOP

ACTOR = "ACTOR Future<int> f(Future<int> a) {\n    int x = wait(a);\n    return x;\n}\n"
PASSES = "Future<int> f(Future<int> a, Propagate = {})"
THROWS = "Future<int> f(Future<int> a)"


def migrated(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], *options: str) -> str:
    """All the C++ that comes of the files."""
    monkeypatch.chdir(folder)
    return "\n".join(trees.migrated(folder, files, *options).values())


def test_an_actor_of_one_place_passes_errors_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = migrated(tmp_path, monkeypatch, {"a.actor.cpp": TOP + ACTOR + "Future<int> g() { return f(1); }\n"})
    assert PASSES in text
    assert "return f(1);" in text


def test_without_parameters_and_without_using(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = TOP.replace("using namespace flow;\n", "")
    text = "ACTOR flow::Future<flow::Void> f() {\n    wait(flow::delay(1));\n    return flow::Void();\n}\n"
    assert "f(flow::Propagate = {}) {" in migrated(tmp_path, monkeypatch, {"a.actor.cpp": head + text})


@pytest.mark.parametrize(
    "text",
    [
        "ACTOR Future<int> f(Future<int> a) {\n    try {\n        int x = wait(a);\n        return x;\n"
        "    } catch (Error& e) {\n        return 0;\n    }\n}\n",
        "ACTOR Future<int> f(Future<int> a);\n" + ACTOR,
        "Future<int> f(Future<int> const& a);\n" + ACTOR,
        ACTOR + "auto pointer = &f;\n",
        ACTOR + "int g(Future<int> (*)(Future<int> const&));\nint n = g(f);\n",
        "ACTOR Future<int> f(Future<int> a) {\n    return a.get();\n}\n",
    ],
    ids=["handler", "declared", "prototype", "pointer", "argument", "no wait"],
)
def test_others_throw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    result = migrated(tmp_path, monkeypatch, {"a.actor.cpp": TOP + text})
    assert THROWS in result
    assert "Propagate" not in result


def test_what_other_files_say_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.actor.cpp": TOP + ACTOR, "b.cpp": "extern int table[];\nvoid* p = (void*)f;\n"}
    assert "Propagate" not in migrated(tmp_path, monkeypatch, files)


def test_foundationdb_has_no_such_parameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = migrated(tmp_path, monkeypatch, {"a.actor.cpp": TOP + ACTOR}, "--target", "foundationdb")
    assert THROWS in result
    assert "Propagate" not in result
