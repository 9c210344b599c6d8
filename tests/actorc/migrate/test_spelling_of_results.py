"""Spellings that once came out wrong: each must come out as C++ that means the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import trees
from trees import TOP

CASES = {
    "a state with empty braces": ("state Foo n{};\n    wait(delay(1));", "Foo n{};"),
    "a blank in front of them": ("state int n {};\n    wait(delay(1));", "int n {};"),
    "a variable named operand": (
        "Lock lock;\n    int operand = wait(get(a));\n    use(operand);",
        "auto operand2 = get(a);\n    lockLocal.reset();\n    int operand = co_await std::move(operand2);",
    ),
    "a comment behind the = of a result": (
        "choose {\n        when(int x = /* why */ wait(a)) { return x; }\n        when(wait(delay(1))) {}\n    }",
        "int x = std::get<0>(std::move(chosen));",
    ),
    # The old lock is destroyed after the new one has been made.
    "a state made anew in a loop": (
        "for (state int i = 0; i < 3; i++) {\n        state Lock lock(a);\n        wait(delay(1));\n    }",
        "lockState.emplace(Lock(a));",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_result(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body, wanted = CASES[case]
    text = f"ACTOR Future<int> f(Future<int> a) {{\n    {body}\n    return 0;\n}}\n"
    (result,) = trees.migrated(tmp_path, {"a.actor.cpp": TOP + text}).values()
    assert wanted in result
