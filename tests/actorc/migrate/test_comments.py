"""Comments between the tokens of what is rewritten: each survives, once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trees
from trees import TOP

TEXT = """\
ACTOR /*c01*/ Future<Void> /*c02*/ f(int const /*c03*/ & key, Future<int> a, Future<Void> b) {
    if (key) {
        state /*c04*/ Foo /*c05*/ x /*c06*/ = /*c07*/ g();
        wait(delay(x.n));
    }
    state int y = /*c08*/ wait /*c09*/ (/*c10*/ a /*c11*/) /*c12*/;
    try { wait(delay(y)); } /*c13*/ catch ( /*c14*/ Error& /*c15*/ e ) /*c16*/ { wait(g(e)); }
    choose /*c17*/ {
        // c18
        when( /*c19*/ int n /*c20*/ = wait(/*c21*/ a) /*c22*/) /*c23*/ { if (n) return /*c24*/ Void() /*c25*/; }
        // c26
        when(wait(delay(1) /*c27*/)) /*c28*/ {} // c29
        // c30
    }
    loop /*c31*/ choose /*c32*/ {
        when(wait(b /*c33*/)) { break; } // c34
        when(wait(delay(1 /*c35*/))) {}
    }
    return Never( /*c36*/ );
}
"""


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
@pytest.mark.parametrize("target", ["flow", "foundationdb"])
def test_each_survives_once(style: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"a.actor.cpp": TOP + TEXT}
    (result,) = trees.migrated(tmp_path, files, f"--style={style}", f"--target={target}").values()
    assert sorted(re.findall(r"c\d\d", result)) == [f"c{number:02}" for number in range(1, 37)]
    assert "ACTOR" not in result
