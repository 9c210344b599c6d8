"""How the commands of tools/bench choose benchmarks."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from millrace.bench import count as counting
from millrace.bench.results import collect, errors
from millrace.bench.suite import Died, RunError, Settings, choose, compiled, death, of_sizes, rows_of, run
from millrace.common.arguments import MANY, UsageError, unknown
from millrace.common.process import ending

NAMES = ["NET2/8/actor", "NET2/64/actor", "YIELD/64/actor", "map/library", "NET2/64/fiber"]


def test_choosing_by_name_in_our_styles() -> None:
    assert choose(NAMES, "NET2") == ["NET2/8/actor", "NET2/64/actor"]
    assert choose(NAMES, "") == NAMES[:-1]


def test_choosing_by_size() -> None:
    assert of_sizes(NAMES, (64, 4096)) == ["NET2/64/actor", "YIELD/64/actor", "map/library", "NET2/64/fiber"]


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("net2", "did you mean NET2 or NET2/8 or NET2/64?"),
        ("YEILD", "did you mean YIELD"),
        ("NET2/63", "did you mean NET2/64"),
        ("YIELD/64/actr", "did you mean YIELD/64/actor"),
        ("qqqq", "try NET2, YIELD, map, NET2/8, NET2/64"),
    ],
)
def test_what_is_not_there_gets_the_nearest_names(pattern: str, near: str) -> None:
    with pytest.raises(UsageError) as error:
        choose(NAMES, pattern)
    assert str(error.value).startswith(f"there is no benchmark '{pattern}'; {near}")


def test_a_pattern_that_is_none_is_said_before_anything_runs() -> None:
    with pytest.raises(UsageError, match=r"'NET2\(' is no regular expression: missing \)"):
        compiled("NET2(")


def test_a_pattern_of_brackets_within_brackets_is_said() -> None:
    with pytest.raises(UsageError, match="too many brackets"):
        compiled("(" * 20_000 + ")" * 20_000)


def test_of_very_many_names_some_are_said() -> None:
    text = unknown("benchmark", "xyz", map(str, range(100)))
    assert text.endswith(f" {MANY - 1}, ...")


def test_each_row_is_run_by_itself_and_the_library_at_once() -> None:
    names = ["NET2/8/actor", "NET2/64/actor", "map/library", "NET2/8/coroutine", "quorum/library"]
    assert rows_of(names) == [
        ["NET2/8/actor", "NET2/8/coroutine"],
        ["NET2/64/actor"],
        ["map/library", "quorum/library"],
    ]


def test_the_names_of_a_program_are_paths_without_styles() -> None:
    names = ["/queue/push", "/queue/fill/64", "/queue/fill/4096"]
    assert choose(names, "fill") == names[1:]
    assert rows_of(names) == [[name] for name in names]
    assert collect([{"name": names[1], "ns_per_item": 1.0}])[0].label == names[1]


# Writes what a program of benchmarks would, and crashes in the coroutine of NET2, having run it for a while.
DYING = (
    f"#!{sys.executable} -IS\n"
    + """
import json, os, signal, sys
given = dict(each.partition("=")[::2] for each in sys.argv[1:])
chosen = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--case=")]
for name in chosen:
    print(f"running {name}, 1 iterations", file=sys.stderr)
    if name == "NET2/64/coroutine":
        print("an assertion failed", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTRAP)
results = [{"name": name, "run_name": name, "ns_per_item": 5.0} for name in chosen]
with open(given["--json"], "w") as out:
    json.dump({"context": {}, "benchmarks": results}, out)
"""
)


def test_a_program_that_dies_has_an_error_where_it_died_and_all_other_results(tmp_path: Path) -> None:
    program = tmp_path / "bench"
    program.write_text(DYING)
    program.chmod(0o755)
    names = ["NET2/64/actor", "NET2/64/coroutine", "YIELD/64/actor"]
    console = Console(file=io.StringIO())
    settings = Settings("clang", "sim", 1, 0.01, "r")
    rows = collect(run(program, names, settings, console)["benchmarks"])
    assert errors(rows) == ["NET2/64/coroutine: killed by SIGTRAP: an assertion failed"]
    assert [row.cell("actor").minimum for row in rows] == [5.0, 5.0]
    with pytest.raises(Died, match="NET2/64/coroutine: killed by SIGTRAP"):
        run(program, names[1:2], settings, console)


def test_of_a_program_that_has_begun_nothing_it_is_said_what_it_printed() -> None:
    found = death(2, ["unknown option"], NAMES)
    assert (type(found), str(found)) == (RunError, "unknown option\nthe benchmarks: exit code 2")
    passes = death(-11, ["running post/64/actor, 4 iterations"], ["post/64/actor"])
    assert str(passes) == "post/64/actor: killed by SIGSEGV"
    assert ending(-64).startswith("killed by SIGRTMAX")


def test_what_dies_while_it_is_counted_has_an_error_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(_program: Path, names: list[str], *_: object) -> dict[str, Any]:
        if "NET2/8/actor" in names:
            raise Died("NET2/8/actor", "killed by SIGTRAP")
        return {"context": {}, "benchmarks": [{"name": name, "instructions_per_item": 7.0} for name in names]}

    monkeypatch.setattr(counting, "_count", count)
    console = Console(file=io.StringIO())
    rows = collect(counting.count(Path("bench"), NAMES[:2], "sim", console, "")["benchmarks"])
    assert errors(rows) == ["NET2/8/actor: killed by SIGTRAP"]
    assert rows[1].cell("actor").instructions == 7.0
