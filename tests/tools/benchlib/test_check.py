"""tools/bench check: what counts as worse, and the file that it compares with."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchlib.check import command
from millrace.bench import check
from millrace.bench.baseline import Baseline, counted, read, text_of, write
from millrace.bench.comparison import Change, compare, is_more, updated
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

TOOLS = {"compiler": "clang 19.1.7", "libc": "glibc 2.36", "valgrind": "3.19.0"}
NEWER = TOOLS | {"compiler": "clang 19.1.8"}
NET2 = "NET2/64/actor"
OLD = {
    NET2: {"instructions": 337.0, "allocs": 1.0312, "bytes": 96},
    "YIELD/64/coroutine": {"instructions": 31.0, "allocs": 0, "bytes": 96},
    "map/library": {"instructions": 281.5, "allocs": 2},
}


def baseline(changed: dict[str, dict[str, float]] | None = None, tools: dict[str, str] = TOOLS) -> Baseline:
    rows = {name: dict(numbers) for name, numbers in OLD.items()}
    for name, numbers in (changed or {}).items():
        rows[name] = rows.get(name, {}) | numbers
    return Baseline(tools, rows)


def document(rows: dict[str, dict[str, float]], tools: dict[str, str] = TOOLS) -> dict[str, Any]:
    keys = {"instructions": "instructions_per_item", "allocs": "allocs_per_item", "bytes": "frame_bytes"}
    results = [{"name": name} | {keys[what]: x for what, x in numbers.items()} for name, numbers in rows.items()]
    return {"context": tools, "benchmarks": results}


@pytest.mark.parametrize(
    ("what", "old", "new", "more"),
    [
        ("instructions", 337, 347, False),  # 2.97 %
        ("instructions", 337, 347.2, True),
        ("instructions", 11, 12, False),  # 9 %, but one instruction
        ("instructions", 31, 32.01, True),
        ("instructions", 31, 20, False),
        ("allocs", 1, 1.02, False),
        ("allocs", 1, 1.04, True),
        ("allocs", 0, 0.001, True),
        ("bytes", 96, 96, False),
        ("bytes", 96, 112, True),
        ("bytes", 0, 96, True),
    ],
)
def test_what_is_more(what: str, old: float, new: float, more: bool) -> None:
    assert is_more(what, old, new) == more


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ({NET2: {"instructions": 360}}, f"{NET2}: instructions 337 -> 360 (+6.8 %)"),
        ({NET2: {"allocs": 2.0312}}, f"{NET2}: allocs 1.0312 -> 2.0312 (+97.0 %)"),
        ({"YIELD/64/coroutine": {"allocs": 1}}, "YIELD/64/coroutine: allocs 0 -> 1 (from nothing)"),
        ({NET2: {"bytes": 112}}, f"{NET2}: bytes 96 -> 112 (+16.7 %)"),
        ({"map/library": {"bytes": 112}}, "map/library: bytes 0 -> 112 (from nothing)"),
    ],
)
def test_what_is_worse_is_found(planted: dict[str, dict[str, float]], said: str) -> None:
    found = compare(baseline(), baseline(planted), OLD)
    assert [str(change) for change in found.worse] == [said]
    assert found.better == []
    assert not found.good


def test_what_is_better_is_said_and_good() -> None:
    found = compare(baseline(), baseline({NET2: {"instructions": 300}}), OLD)
    assert found.better == [Change(NET2, "instructions", 337, 300)]
    assert found.worse == []
    assert found.good


def test_what_creeps_in_below_the_limit_shows_in_the_average() -> None:
    found = compare(
        baseline(), baseline({name: {"instructions": x["instructions"] * 1.02} for name, x in OLD.items()}), OLD
    )
    assert found.good
    assert found.average == "+2.00 %"
    assert [change.name for change in found.slightly_worse] == [*OLD]


def test_rows_that_came_or_went_are_no_good() -> None:
    now = baseline({"new/library": {"instructions": 5}})
    del now.rows["map/library"]
    found = compare(baseline(), now, {*OLD, "new/library"})
    assert (found.new, found.missing, found.good) == (["new/library"], ["map/library"], False)


def test_what_was_not_looked_at_is_not_missing() -> None:
    now = Baseline(TOOLS, {NET2: OLD[NET2]})
    assert compare(baseline(), now, {NET2}).good


def test_an_update_changes_what_was_looked_at_and_only_what_changed() -> None:
    now = baseline(
        {NET2: {"instructions": 360}, "map/library": {"instructions": 281.6}, "new/library": {"instructions": 5}}
    )
    del now.rows["YIELD/64/coroutine"]
    result, said = updated(baseline(), now, {*OLD, "new/library"})
    assert said == [
        "removed: YIELD/64/coroutine",
        f"{NET2}: instructions 337 -> 360 (+6.8 %)",
        "added: new/library",
    ]
    assert result.rows[NET2]["instructions"] == 360
    assert result.rows["map/library"]["instructions"] == 281.5
    assert result.rows.keys() == {NET2, "map/library", "new/library"}
    _, said = updated(baseline(), Baseline(NEWER, {NET2: OLD[NET2]}), {NET2})
    assert said == ["compiler clang 19.1.7 -> clang 19.1.8"]


def test_the_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    write(file, {"gcc": baseline(), "clang": baseline({NET2: {"instructions": 337.25}})})
    assert read(file, command.UPDATE) == {"clang": baseline({NET2: {"instructions": 337.25}}), "gcc": baseline()}


def test_the_file_is_the_same_whatever_the_order_and_has_a_line_for_each_row() -> None:
    names = ["B/64/actorc-coroutine", "B/8/actor", "B/64/coroutine", "B/64/actor", "A/library"]
    numbers = {"bytes": 96.0, "instructions": 5.5, "allocs": 0.0}
    texts = {text_of({"clang": Baseline(TOOLS, dict.fromkeys(order, numbers))}) for order in (names, names[::-1])}
    assert len(texts) == 1
    lines = [line.strip() for line in texts.pop().splitlines() if "instructions" in line]
    assert [json.loads(line.split(":")[0]) for line in lines] == [
        *("A/library", "B/8/actor", "B/64/actor", "B/64/coroutine", "B/64/actorc-coroutine")
    ]
    assert lines[1] == '"B/8/actor": {"instructions": 5.5, "allocs": 0, "bytes": 96},'


def test_the_project_s_own_file_is_as_the_tool_writes_it() -> None:
    baselines = read(command.FILE, command.UPDATE)
    assert set(baselines) == {"clang", "gcc"}
    assert command.FILE.read_text() == text_of(baselines)
    assert baselines["clang"].rows.keys() == baselines["gcc"].rows.keys()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", r"broken: line 1: Expecting"),
        ('{\n<<<<<<< HEAD\n"clang": {}\n}', r"broken: line 2: Expecting"),
        ("[]", "the file is not an object"),
        ('{"clang": 1}', "what stands under a compiler is not an object"),
        ('{"clang": {}}', "rows is not an object"),
        ('{"clang": {"rows": {}}}', "must have compiler, libc, valgrind and rows"),
    ],
)
def test_a_broken_file_says_where_and_what_to_do(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(text)
    with pytest.raises(Failure, match=why) as error:
        read(file, command.UPDATE)
    assert "get it back from git" in str(error.value)


NO_ROWS: list[object] = [{"time": 3}, {"instructions": "3"}, {"instructions": True}, {"allocs": 1}, 3]
NO_ROWS += [{"instructions": number} for number in (-1, 1e300, 10**400, float("nan"), float("inf"))]


@pytest.mark.parametrize("numbers", NO_ROWS)
def test_a_row_that_is_none_is_named(tmp_path: Path, numbers: object) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps({"clang": TOOLS | {"rows": {NET2: numbers}}}))
    with pytest.raises(Failure, match=NET2):
        read(file, command.UPDATE)


def test_a_missing_file_says_which_command_writes_it(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="'tools/bench check --update' writes it"):
        read(tmp_path / "baseline.json", command.UPDATE)


def test_a_benchmark_that_failed_is_in_no_baseline() -> None:
    results = {"context": TOOLS, "benchmarks": [{"name": NET2, "error_occurred": True, "error_message": "not done"}]}
    with pytest.raises(Failure, match=f"{NET2}: not done"):
        counted(results)


class Bench:
    """tools/bench check, with given counts."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = file
        self.rows: dict[str, dict[str, float]] = OLD
        self.tools = TOOLS
        monkeypatch.setattr(command, "FILE", file)
        monkeypatch.setattr(command, "build", lambda *_: None)
        names = [*self.rows, "NET2/4096/actor", "post/4096/actor"]
        monkeypatch.setattr(check, "available", lambda *_: [*self.rows, *names[-2:]])
        monkeypatch.setattr(check, "threaded", lambda *_: {names[-1]})
        monkeypatch.setattr(check, "count", self.count)

    def count(self, _program: Path, names: list[str], *_: object) -> dict[str, Any]:
        return document({name: self.rows[name] for name in names}, self.tools)

    def run(self, *arguments: str) -> tuple[int, str]:
        out = io.StringIO()
        console = Console(file=out, width=200, color_system=None)
        return command.main(["--compiler", "clang", *arguments], console, console), out.getvalue()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path / "baseline.json", monkeypatch)
    assert made.run("--update")[0] == 0
    return made


def test_what_was_written_is_good(bench: Bench) -> None:
    assert bench.run() == (0, "clang: 3 rows, good; instructions +0.00 % on average\n")


def test_what_grew_fails_and_names_row_style_and_numbers(bench: Bench) -> None:
    bench.rows = OLD | {NET2: OLD[NET2] | {"instructions": 360.0}}
    code, text = bench.run()
    assert code == 1
    line = next(line for line in text.splitlines() if "NET2" in line)
    assert [cell.strip() for cell in line.strip("| ").split("|")] == [
        *("NET2/64", "ACTOR", "instructions", "337", "360", "+6.8 %")
    ]
    assert "tools/bench check --update --compiler clang" in text
    assert bench.run("YIELD")[0] == 0


def test_an_update_of_some_rows_leaves_the_others(bench: Bench) -> None:
    bench.rows = {name: numbers | {"instructions": 1000.0} for name, numbers in OLD.items()}
    assert bench.run("NET2", "--update")[0] == 0
    kept = read(bench.file, command.UPDATE)["clang"].rows
    assert [kept[name]["instructions"] for name in OLD] == [1000, 31, 281.5]


def test_what_grew_within_the_limit_is_said_and_good(bench: Bench) -> None:
    bench.rows = OLD | {NET2: OLD[NET2] | {"instructions": 347.0}}
    code, text = bench.run()
    assert code == 0
    assert f"clang: grew, within the limit: {NET2}: instructions 337 -> 347 (+3.0 %)" in text


def test_rows_that_came_or_went_are_said_with_the_command(bench: Bench) -> None:
    bench.rows = {NET2: OLD[NET2], "new/library": {"instructions": 5.0}}
    code, text = bench.run()
    assert code == 1
    assert "clang: not in the baseline: new/library" in text
    assert "clang: in the baseline, but not a benchmark: map/library" in text
    assert "tools/bench check --update" in text


def test_another_version_of_the_compiler_is_said_and_compared(bench: Bench) -> None:
    bench.tools = NEWER
    code, text = bench.run()
    assert code == 0
    assert "counted with clang 19.1.7, glibc 2.36 and valgrind 3.19.0; this is clang 19.1.8" in text
    with pytest.raises(UsageError, match="update all of them, without 'NET2'"):
        bench.run("NET2", "--update")
    assert read(bench.file, command.UPDATE)["clang"].tools == TOOLS


def test_a_compiler_without_rows_is_no_success(bench: Bench) -> None:
    with pytest.raises(Failure, match="no rows of gcc: 'tools/bench check --update --compiler gcc' adds them"):
        bench.tools = TOOLS | {"compiler": "gcc 12.2.0"}
        bench.run("--compiler", "gcc")


def test_one_size_of_each_is_kept_and_another_is_not_found(bench: Bench) -> None:
    with pytest.raises(UsageError, match=r"no benchmark 'NET2/4096'; did you mean NET2/64"):
        bench.run("NET2/4096")


def test_what_is_not_counted_says_why(bench: Bench) -> None:
    with pytest.raises(UsageError, match="post/4096 is not counted: how often its threads wait"):
        bench.run("post")


def test_mistakes_are_found_before_the_build(bench: Bench) -> None:
    for arguments in (["NET2("], ["--updte"]):
        with pytest.raises(UsageError):
            bench.run(*arguments)
