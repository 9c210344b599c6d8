"""tools/bench instructions: what is counted, how, and what it says when it cannot."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.instructions.command import chosen, main, report
from benchlib.instructions.table import styles_table
from millrace.bench.callgrind import Process, read_part
from millrace.bench.count import count, difference
from millrace.bench.plan import AT_ONCE, FEWEST_PASSES, ITEMS, countable, groups, passes, usual_sizes
from millrace.bench.results import collect
from millrace.bench.suite import RunError
from millrace.bench.tables import library_table
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.table import Table

# What millrace_bench is to the tool: a pass of hundred/actor is 100 instructions, and one of hundred/coroutine 200.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
namespace flow::testing {
struct BenchmarkClock {
    [[gnu::noinline]] void open() { asm volatile(""); }
    [[gnu::noinline]] void close() { asm volatile(""); }
};
} // namespace flow::testing
int main(int argc, char** argv) {
    long passes = 0;
    std::FILE* out = stdout;
    for (int i = 1; i < argc; ++i) {
        if (!std::strncmp(argv[i], "--iterations=", 13))
            passes = std::atol(argv[i] + 13);
        if (!std::strncmp(argv[i], "--json=", 7))
            out = std::fopen(argv[i] + 7, "w");
        if (std::strstr(argv[i], "broken/actor"))
            return std::fprintf(stderr, "it is broken\n"), 3;
    }
    flow::testing::BenchmarkClock run;
    run.open();
    for (int i = 0; i < 1000000; ++i)
        asm volatile("");
    run.open();
    long left = passes;
    asm volatile("1:\n.rept 98\nnop\n.endr\ndec %0\njnz 1b" : "+r"(left));
    run.close();
    run.open();
    run.open();
    left = passes;
    asm volatile("1:\n.rept 198\nnop\n.endr\ndec %0\njnz 1b" : "+r"(left));
    run.close();
    std::fprintf(out, "{\"context\": {\"compiler\": \"clang 19\"}, \"benchmarks\": [");
    std::fprintf(out, "{\"name\": \"hundred/actor\", \"intervals\": 1, \"items_per_op\": 1,"
                 "\"allocs_per_item\": %.17g},", (passes * 2 + 50) / double(passes));
    std::fprintf(out, "{\"name\": \"hundred/coroutine\", \"intervals\": 1, \"items_per_op\": 2, \"allocs_per_item\": 0,"
                 "\"frame_bytes\": 96}]}\n");
    std::fclose(out);
}
"""
STYLES = ["hundred/coroutine", "hundred/actor"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source, binary = folder / "bench.cpp", folder / "bench"
    source.write_text(PROGRAM)
    subprocess.run(["clang++-19", "-O1", "-std=c++20", source, "-o", binary], check=True)
    return binary


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200, color_system=None)


def printed(table: Table) -> list[list[str]]:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(table)
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in out.getvalue().splitlines()]


def test_the_difference_leaves_out_what_both_runs_have_in_common() -> None:
    assert difference(1_000_000 + 300 * 64, 300, 1_000_000 + 900 * 64, 900) == 64


def test_a_real_count_is_exact(program: Path) -> None:
    document = count(program, STYLES, "", quiet(), "counting")
    coroutine, actor = document["benchmarks"]
    assert (coroutine["name"], actor["name"]) == (STYLES[0], STYLES[1])
    assert actor["instructions_per_item"] == 100
    assert coroutine["instructions_per_item"] == 100  # a pass has two items
    assert actor["allocs_per_item"] == pytest.approx(2)  # and 50 for setting up
    assert coroutine["frame_bytes"] == 96
    assert {"valgrind", "libc", "compiler"} <= document["context"].keys()


def test_a_program_that_fails_is_shown(program: Path) -> None:
    with pytest.raises(RunError, match="it is broken\nthe benchmarks: exit code 3"):
        count(program, ["broken/actor"], "", quiet(), "counting")


def test_without_valgrind_it_says_how_to_get_it(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Failure, match="valgrind is not installed: run tools/setup count, or apt-get install valgrind"):
        count(program, STYLES, "", quiet(), "counting")


def test_what_ran_must_be_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text('{"benchmarks": [{"name": "NET2/64/actor", "intervals": 1}]}')
    with pytest.raises(RunError, match="asked for NET2/8/actor, what ran is NET2/64/actor"):
        Process(["NET2/8/actor"], 3, tmp_path).read()
    with pytest.raises(RunError, match=r"saw flow::testing::BenchmarkClock::close\(\) called 0 times, and not 1"):
        Process(["NET2/64/actor"], 3, tmp_path).read()


def test_parts_are_read_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text('{"benchmarks": [{"name": "b", "intervals": 1}, {"name": "a", "intervals": 2}]}')
    starts = dict.fromkeys((1, 2, 4, 5), "open")
    for number, function in (starts | dict.fromkeys((3, 10, 11), "close")).items():
        trigger = f"desc: Trigger: --dump-before=flow::testing::BenchmarkClock::{function}()"
        text = f"{trigger}\n\nevents: Ir\nsummary: {number}00\n"
        (tmp_path / f"calls.{number}").write_text(text)
    (tmp_path / "calls").write_text("desc: Trigger: Program termination\nsummary: 7\n")
    assert Process(["a", "b"], 3, tmp_path).read()[0] == {"b": 300, "a": 2100}


def test_a_file_without_a_count_is_no_nothing(tmp_path: Path) -> None:
    (tmp_path / "calls.1").write_text("events: Ir\n")
    with pytest.raises(RunError, match=r"no summary into calls\.1"):
        read_part(tmp_path / "calls.1")


def test_threads_are_left_out_and_it_says_why() -> None:
    names = ["post/4096/actor", "NET2/64/actor"]
    assert countable(names, {names[0]}) == (
        names[1:],
        {"post/4096": "how often its threads wait for each other is chance"},
    )
    with pytest.raises(UsageError, match="post/4096 is not counted: how often"):
        chosen(names, names[:1], "post", all_sizes=False)


@pytest.mark.parametrize(
    ("sizes", "usual"),
    [([1, 8, 64, 4096], 64), ([1, 10, 1000], 10), ([1, 1024], 1024), ([1, 1000, 1000000], 1000), ([65536], 65536)],
)
def test_of_each_benchmark_the_size_nearest_to_64(sizes: list[int], usual: int) -> None:
    names = ["map/library", *(f"x/{size}/{style}" for size in sizes for style in ("actor", "coroutine"))]
    assert usual_sizes(names) == ["map/library", f"x/{usual}/actor", f"x/{usual}/coroutine"]


def test_another_size_is_chosen_by_its_name() -> None:
    names = ["NET2/64/actor", "NET2/4096/actor"]
    assert chosen(names, (), "NET2", all_sizes=False)[0] == names[:1]
    assert chosen(names, (), "NET2/4096", all_sizes=False)[0] == names[1:]
    assert chosen(names, (), "NET2", all_sizes=True)[0] == names


@pytest.mark.parametrize(("items", "number"), [(1, ITEMS), (64, 63), (1_000_000, FEWEST_PASSES)])
def test_passes_make_as_many_items_whatever_a_pass_has(items: int, number: int) -> None:
    assert passes(items) == number


def test_a_process_has_one_row_or_some_pieces_of_the_library() -> None:
    pieces = [f"{i}/library" for i in range(AT_ONCE + 1)]
    names = ["NET2/64/actor", "NET2/64/coroutine", "cancel/1024/actor", *pieces]
    items = dict.fromkeys(pieces, 1.0) | dict.fromkeys(names[:2], 64.0) | {names[2]: 1024.0}
    assert list(groups(names, items)) == [
        (names[:2], 63),
        (names[2:3], FEWEST_PASSES),
        (pieces[:-1], ITEMS),
        (pieces[-1:], ITEMS),
    ]


def result(name: str, instructions: float, **more: object) -> dict[str, object]:
    return {"name": name, "instructions_per_item": instructions, "allocs_per_item": 1.0, **more}


def test_the_tables() -> None:
    rows = collect(
        [
            result("NET2/64/actor", 336.8, frame_bytes=96.0),
            result("NET2/64/coroutine", 355.4, frame_bytes=112.0),
            result("map/library", 281.5),
        ]
    )
    assert printed(styles_table(rows, plain=True))[-2] == [
        *("NET2", "64", "337", "355", "+5.5 %", "-", "1", "96 / 112"),
    ]
    assert printed(library_table(rows, "t", True, "instructions", "instructions"))[-2] == ["map", "282", "1", "-"]


def test_a_benchmark_that_did_not_do_its_work_is_an_error() -> None:
    out = quiet()
    failed = {"name": "NET2/64/actor", "error_occurred": True, "error_message": "the work was not done"}
    context = {"compiler": "clang 19", "loop": "sim", "revision": "abc"}
    assert not report({"context": context, "benchmarks": [failed]}, {"post/4096": "chance"}, out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "error: NET2/64/actor: the work was not done" in text
    assert "not counted: post/4096: chance" in text


def test_mistakes_are_found_before_the_build(tmp_path: Path) -> None:
    for arguments in (["NET2("], ["--sizes"], ["--json", str(tmp_path / "nowhere" / "x.json")]):
        with pytest.raises(UsageError):
            main(arguments, quiet(), quiet())
