"""`actorc check`, for programs that were written for FoundationDB's Flow: hints, and names that differ."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from checking import HEAD, ROOT, actorc, actorc_on_flow
from front import unmarked

from actorc_check.flow_names import DIFFERENCES, table

pytest.importorskip("clang")


STRANGE = """\
static void use(flow::StringRef text) { text.compareSuffix(text); }
ACTOR flow::Future<int> next(flow::Future<int> f) {
    int x = wait(f);
    enableBuggify(true);
    if (x == error_code_not_committed) throw not_committed();
    return somethingElse(x);
}
"""


def test_a_forward_declaration_that_clashes_has_a_hint(tmp_path: Path) -> None:
    (tmp_path / "x.cpp").write_text('template <class T> class Future;\n#include "flow/flow.h"\n', encoding="utf-8")
    done = actorc("x.cpp", "--", "-std=c++20", f"-iquote{ROOT}/flow/compat", f"-I{ROOT}", folder=tmp_path)
    assert done.returncode == 2
    assert 'write `#include "flow/forward.h"` in its place' in done.stderr


@pytest.mark.parametrize("is_ported", [False, True])
def test_a_member_that_flow_may_have_has_a_hint_in_a_program_of_flows(tmp_path: Path, is_ported: bool) -> None:
    (tmp_path / "x.cpp").write_text('#include "flow/flow.h"\nint x = flow::UID().strange();\n', encoding="utf-8")
    compat = [f"-iquote{ROOT}/flow/compat"] if is_ported else []
    done = actorc("x.cpp", "--", "-std=c++20", *compat, f"-I{ROOT}", folder=tmp_path)
    assert "no member named 'strange' in 'flow::UID'" in done.stderr
    assert ("Flow's `UID` has it: Millrace's does not" in done.stderr) == is_ported


def test_names_of_flow_that_are_missing_have_a_hint(tmp_path: Path) -> None:
    head = HEAD + '#include "flow/actorcompiler.h" // must be the last include\n'
    (tmp_path / "strange.actor.cpp").write_text(head + STRANGE, encoding="utf-8")
    done = actorc_on_flow("--json", "strange.actor.cpp", folder=tmp_path)
    instead, database = "Millrace does not have it; instead: ", "it belongs to the database, and is no part of Flow"
    hints = {each["message"]: each["hint"] for each in json.loads(done.stdout)["diagnostics"]}
    assert hints == {
        "no member named 'compareSuffix' in 'flow::StringRef'": f"{instead}substr(n).compare(other.substr(n))",
        "use of undeclared identifier 'enableBuggify'": f"{instead}leave it out: a simulation decides it",
        "use of undeclared identifier 'error_code_not_committed'": database,
        "use of undeclared identifier 'not_committed'": database,
        "use of undeclared identifier 'somethingElse'": None,
    }
    header = '#include "flow/SystemMonitor.h"\n'
    (tmp_path / "header.actor.cpp").write_text(header + head, encoding="utf-8")
    done = actorc("header.actor.cpp", folder=tmp_path)
    assert "hint: Millrace does not have it; instead: leave it out: LoopMetrics" in done.stderr


PORTED = """\
#include "flow/flow.h" // "FlowLock" in a text, or in a comment: FlowLock
#include "flow/actorcompiler.h" // must be the last include
@@ACTOR Future<Void> a(@@FlowLock* lock, FlowLock* other) {
    @@wait(lock->take());
    wait(success(waitNextNot("waitNext")));
    return Void();
}
int main() { @@g_network->run(); g_network->stop(); g_network->run(); }
// actorc: allow A0708
Deque<int> allowed;
"""


def test_differences_from_flow_are_reported_where_they_are_used_first(tmp_path: Path) -> None:
    text, marks = unmarked(PORTED)
    (tmp_path / "ported.actor.cpp").write_text(text, encoding="utf-8")
    done = actorc_on_flow("--differences", "--json", "ported.actor.cpp", folder=tmp_path)
    found = [each for each in json.loads(done.stdout)["diagnostics"] if each["code"] == "A0708"]
    assert [each["range"]["start"]["offset"] for each in found] == marks
    assert found[3]["message"] == "`g_network -> run` differs from Flow's"
    assert found[3]["hint"] == "on a loop that newNet2() has not made, it ends also when nothing is left to do"
    assert "A0708" not in actorc_on_flow("--json", "ported.actor.cpp", folder=tmp_path).stdout


def test_the_page_about_porting_has_all_differences() -> None:
    text = (ROOT / "flow" / "docs" / "porting_from_flow.md").read_text(encoding="utf-8")
    shown = text.partition("## Differences from Flow")[2].partition("\n## ")[0]
    for name in table()[DIFFERENCES]:
        assert set(re.findall(r"\w+", name)) <= set(re.findall(r"\w+", shown)), name
