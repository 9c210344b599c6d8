"""Reachability: how control leaves a statement, and whether it has waited."""

from __future__ import annotations

import pytest
from front import statements

from actorc.check.reach import Paths, Reach

BEFORE, AFTER, BOTH, NOWHERE = Paths.BEFORE_WAIT, Paths.AFTER_WAIT, Paths.BEFORE_WAIT | Paths.AFTER_WAIT, Paths.NONE


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("k++;", BEFORE),
        ("wait(f);", AFTER),
        ("if (k) wait(f);", BOTH),
        ("if (k) { wait(f); return Void(); }", BEFORE),
        ("if (k) { wait(f); } else { throw timed_out(); }", AFTER),
        ("if (k) { return Void(); } else { k++; }", BEFORE),
        ("while (k) { wait(f); }", BOTH),
        ("loop { wait(f); break; }", AFTER),
        ("loop { if (k) break; wait(f); }", BOTH),
        ("while (true) { if (k) { wait(f); break; } k++; }", AFTER),
        ("for (;;) { wait(f); if (k) continue; else break; }", AFTER),
        ("for (k = 0; k < 3; k++) { if (k) break; }", BEFORE),
        ("try { wait(f); } catch (Error&) { k++; }", BOTH),
        ("try { wait(f); return Void(); } catch (Error&) { throw; }", NOWHERE),
        ("try { k++; } catch (Error&) { wait(f); }", BOTH),
        ("choose { when(wait(f)) { return Void(); } when(wait(f)) { k++; } }", AFTER),
    ],
)
def test_how_statements_complete(text: str, normal: Paths) -> None:
    parsed, source = statements(f"if (g()) {{ {text} }}")
    reach = Reach(source)
    block = next(iter(parsed)).then  # type: ignore[attr-defined]
    assert reach.flow(block).normal == normal


def test_nothing_arrives_nowhere() -> None:
    parsed, source = statements("k++;")
    assert Reach(source).flow(parsed[0], Paths.NONE).normal == NOWHERE
