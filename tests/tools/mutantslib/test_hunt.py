"""A mutant is hunted by a tools/test that is a script here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millrace.common.failure import Failure
from mutantslib import hunt
from mutantslib.copy import Copy
from mutantslib.hunt import Hunt, nearest, stages
from mutantslib.mutant import Mutant
from mutantslib.results import Results

# Says what tools/test says. `near` finds Found, everything finds Late; Hangs hangs.
TOOLS_TEST = """
import os, sys, time
mutant, stage = os.environ["MILLRACE_MUTANT"], sys.argv[1:]
is_near = stage[:1] == ["--fast"] and stage[1] == "flow/loop"
failed = mutant == "Found" or (mutant == "Late" and "tools" in stage) or open("flow/a.cpp").read() == "7"
print(f"{stage}", file=open("log", "a"))
if mutant == "Hangs":
    print("[1/1] unit tests ...", flush=True)
    time.sleep(60)
if failed:
    print("TEST CASE:  a timer\\n\\nERROR: CHECK( now() == 1 )")
print(f"[1/2] unit tests: 5 passed, {int(failed)} failed, 0.1 s", flush=True)
if failed:
    time.sleep(60)  # the rest is not waited for
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "test.py").write_text(TOOLS_TEST)
    (tmp_path / "flow").mkdir()
    (tmp_path / "flow" / "a.cpp").write_text("8")
    return tmp_path


def test_it_ends_with_the_first_step_that_fails(tree: Path) -> None:
    hunting = Hunt(tree)
    assert hunting.run("Found", "flow/loop/a.cpp") == ("killed", "a timer (unit tests)")
    assert hunting.run("Found", "flow/loop/b.cpp") == ("killed", "a timer (unit tests)")
    assert (tree / "log").read_text().splitlines() == ["['--fast', 'flow/loop']"] * 3, "once without a mutant"


def test_what_is_nearest_comes_first(tree: Path) -> None:
    assert Hunt(tree).run("Late", "flow/loop/a.cpp") == ("killed", "a timer (unit tests)")
    ran = (tree / "log").read_text().splitlines()
    assert ran[::2] == ran[1::2], "each without a mutant as well"
    assert ran[:3:2] == ["['--fast', 'flow/loop']", "['--fast', 'flow', 'net']"]
    assert "'actorc'" in ran[4]
    assert Hunt(tree).run("Lost", "flow/loop/a.cpp") == ("survived", "")


def test_what_hangs_is_stopped(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunt, "_LEAST", 0.5)
    outcome, by = Hunt(tree).run("Hangs", "flow/loop/a.cpp")
    assert outcome == "hung"
    assert by.endswith(" s: --fast flow/loop")


def test_without_a_mutant_nothing_fails(tree: Path) -> None:
    (tree / "flow" / "a.cpp").write_text("7")
    with pytest.raises(Failure, match=r"without a mutant tools/test --fast flow/loop fails in the copy: a timer"):
        Hunt(tree).run("Found", "flow/loop/a.cpp")


def test_one_that_cannot_be_switched_is_there_for_its_run(tree: Path) -> None:
    copy = Copy(tree, [Mutant("Alone", "flow/a.cpp", "8", "7")])
    with copy.with_alone("Other"):
        assert (tree / "flow" / "a.cpp").read_text() == "8"
    with copy.with_alone("Alone"):
        assert (tree / "flow" / "a.cpp").read_text() == "7"
    assert (tree / "flow" / "a.cpp").read_text() == "8"


def test_folders_of_tests() -> None:
    assert nearest("flow/loop/detail/inbox.h") == "flow/loop"
    assert nearest("net/address.cpp") == "net"
    assert nearest("actorc/actorc_migrate/edits.py") == "actorc/migrate"
    assert nearest("actorc/actorc/check/reach.py") == "actorc"
    assert stages("actorc/actorc_migrate/edits.py")[:2] == [("--fast", "actorc/migrate"), ("--fast", "actorc")]


def test_results_are_those_of_one_state_of_the_project(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    Results(file, "before").add("OneMore", "change", "survived", "", 1.26)
    Results(file, "now").add("OneMore", "change", "killed", "a timer", 2)
    found = Results(file, "now").of("OneMore", "change")
    assert found is not None
    assert (found.outcome, found.by, found.seconds) == ("killed", "a timer", 2)
    assert Results(file, "now").of("OneMore", "another change") is None
    before = Results(file, "before").of("OneMore", "change")
    assert before is not None
    assert before.seconds == 1.3
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 2
