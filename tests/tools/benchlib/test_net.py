"""The tables of tools/bench net."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.net.tables import beside_floor, is_net, remarks, tables
from common.tree import ROOT
from millrace.bench.results import merge


def result(name: str, **counters: float) -> dict[str, Any]:
    return {"name": name, "run_name": name, "run_type": "iteration", **counters}


def composed(style: str, ns: float, work: int = 1001) -> dict[str, Any]:
    return result(f"composed-socket/4/{style}", ns_per_item=ns * work, items_per_op=1, work_per_op=work)


def echo(server: str, rate: float, **more: float) -> dict[str, Any]:
    return result(f"echo/50/{server}", requests_per_second=rate, p99_us=400.0, **more)


def printed(results: list[dict[str, Any]]) -> list[list[str]]:
    """The cells of each line."""
    out = io.StringIO()
    console = Console(file=out, width=200, color_system=None)
    for table in tables(results, plain=True):
        console.print(table)
    lines = [line.strip() for line in out.getvalue().splitlines()]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]


def test_what_belongs_to_the_net_is_told_by_its_subject() -> None:
    assert is_net("composed-tls/1/actor")
    assert is_net("bind-udp/50/sync")
    assert not is_net("NET2/64/actor")


def test_each_style_stands_beside_its_own_floor() -> None:
    times = {"callback": 3.0, "actor": 6.0, "floor-callback": 2.0, "floor-coroutine": 3.0}
    assert beside_floor(times, "callback") == "3.00 (1.50x)"
    assert beside_floor(times, "actor") == "6.00 (2.00x)"
    assert beside_floor(times, "coroutine") == "-"


def test_the_least_time_counts_and_work_is_shown_once() -> None:
    floors = [composed("floor-callback", 2.0, 1000), composed("floor-coroutine", 2.5)]
    lines = printed([composed("callback", 9.0, 1000), composed("callback", 3.0, 1000), *floors])
    assert lines[-1][:3] == ["composed-socket", "4", "3.00 (1.50x)"]
    assert lines[-1][-1] == "1000 / 1001"


def test_the_ratio_of_a_bind_is_that_of_the_middle_run() -> None:
    runs = [
        result("bind-tcp/50/many", ns_per_item=9000.0 + i, ratio_to_floor=ratio) for i, ratio in enumerate((0.9, 2, 1))
    ]
    assert printed(runs)[-1] == ["bind-tcp", "50", "-", "-", "9000 (1.000x)", "-", "-"]


def test_servers_are_compared_with_raw_epoll_by_the_best_and_the_middle_round() -> None:
    runs = [echo("raw-epoll", rate) for rate in (100.0, 200.0, 150.0)]
    runs += [echo("coroutine-epoll", rate, system_calls_per_request=2.0) for rate in (190.0, 150.0, 30.0)]
    lines = printed(runs)
    assert lines[-1] == ["coroutine-epoll", "echo/50", "190", "95.0%", "100.0%", "400", "2.00"]
    assert lines[-2][-1] == "-"


def test_servers_under_other_loads_are_shown_by_their_middle_round() -> None:
    runs = [result("idle/10000/coroutine-epoll", bytes_per_connection=bytes_) for bytes_ in (700.0, 900.0, 800.0)]
    loops = {"requests_per_second": 150_000.0, "p99_us": 400.0, "ratio_to_one_loop": 1.25, "load_processors": 0.9}
    runs.append(result("echo-loops/2/coroutine", **loops, processors=2.0))
    runs.append(result("flood/1/coroutine-epoll", megabytes_per_second=250.0, timer_p99_us=3000.0, p99_us=4000.0))
    lines = printed(runs)
    assert ["idle/10000", "coroutine-epoll", "-", "-", "-", "-", "-", "800", "-", "-"] in lines
    assert ["echo-loops/2", "coroutine", "150000", "-", "400", "1.25", "0.90", "-", "-", "-"] in lines
    assert ["flood/1", "coroutine-epoll", "-", "-", "4000", "-", "-", "-", "250", "3000"] in lines
    assert "share 2 processors" in remarks(runs)[0]
    assert remarks([result("echo-loops/2/coroutine", **loops, processors=8.0)]) == []
    assert is_net("echo-open/50/raw-epoll")


def test_a_server_whose_system_calls_are_not_counted_has_a_note_and_no_figure() -> None:
    label = "system calls are not counted: the kernel's trace points: Operation not permitted"
    runs = [{**echo("go", rate), "label": label} for rate in (190.0, 150.0)]
    assert printed(runs)[-1][-1] == "-"
    assert remarks([*runs, echo("raw-epoll", 200.0)]) == [f"note: go: {label}"]
    both = merge({compiler: {"context": {"compiler": "", "flags": ""}, "benchmarks": runs} for compiler in ("a", "b")})
    assert [run["label"] for run in both["benchmarks"]] == [f"a; {label}", f"a; {label}", f"b; {label}", f"b; {label}"]


COUNTING = """\
#include "bench/net/program_calls.h"
#include <cstdio>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int, char** arguments) {
    bench::ProgramCalls calls;
    for (int i = 0; i < 10'000; ++i)
        ::getppid(); // not of the program
    pid_t program;
    if (::posix_spawn(&program, arguments[1], nullptr, nullptr, arguments + 1, environ) != 0)
        return 1;
    ::waitpid(program, nullptr, 0);
    if (calls.obstacle().empty())
        std::printf("%lu", static_cast<unsigned long>(calls.count()));
    else
        std::printf("%s", calls.obstacle().c_str());
}
"""

# Its calls are those of another thread, besides its start.
CALLS = """\
import os, sys, threading
thread = threading.Thread(target=lambda: [os.getppid() for _ in range(int(sys.argv[1]))])
thread.start()
thread.join()
"""


def test_the_system_calls_of_another_program_are_counted_in_all_its_threads(tmp_path: Path) -> None:
    (tmp_path / "counting.cpp").write_text(COUNTING)
    sources = [tmp_path / "counting.cpp", ROOT / "bench/net/program_calls.cpp"]
    compiler = ["clang++-19", "-std=c++20", f"-I{ROOT}", *sources, "-o", tmp_path / "counting"]
    subprocess.run(compiler, check=True)

    def count(calls: int) -> str:
        command = [tmp_path / "counting", sys.executable, "-S", "-c", CALLS, str(calls)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    few = count(10)
    if not few.isdigit():  # not everybody may count
        assert few.startswith(("the kernel's trace points: ", "perf_event_open: ")), few
        return
    assert 0 < int(few) < 5_000
    assert 20_000 <= int(count(20_010)) - int(few) < 21_000


def test_requests_are_compared_with_millrace_by_the_middle_round() -> None:
    def rpc(style: str, rate: float) -> dict[str, Any]:
        return result(f"rpc/256/{style}", requests_per_second=rate, p99_us=90.0, allocs_per_item=2.0)

    runs = [rpc("grpc", rate) for rate in (10.0, 30.0, 20.0)] + [rpc("millrace", rate) for rate in (80.0, 100.0, 60.0)]
    lines = printed(runs)
    assert lines[-2] == ["rpc/256", "millrace", "100", "80", "-", "90.0", "2.00"]
    assert lines[-1] == ["rpc/256", "grpc", "30", "20", "4.00", "90.0", "2.00"]


def test_what_failed_is_in_no_table() -> None:
    assert tables([{**result("echo/50/libuv"), "error_occurred": True}], plain=True) == []
