"""millrace simulate run, with a program that fails in many ways."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from millrace.simulate.results import Result, grouped
from millrace.simulate.run_command import split

Command = Callable[..., subprocess.CompletedProcess[str]]
MILLRACE = Path(__file__).resolve().parents[4] / "tools" / "millrace"


def test_splitting_loses_nothing() -> None:
    for seeds, workers in ((range(5, 6), 8), (range(1000), 3), (range(7, 100_000), 2), (range(9), 2)):
        batches = list(split(seeds, workers))
        assert [seed for batch in batches for seed in batch] == list(seeds)
        assert max(map(len, batches)) <= 100
        assert len(batches) >= min(len(seeds), 4 * workers)


def result(seed: int, signature: str) -> Result:
    return Result(seed, "", 0, 0, {}, [], signature, f"of {seed}", "")


def test_grouping() -> None:
    groups = grouped([result(9, "a"), result(7, "b"), result(5, "b"), result(2, "c")])
    assert [(each.signature, each.count, each.smallest.seed) for each in groups] == [
        ("b", 2, 5),
        ("c", 1, 2),
        ("a", 1, 9),
    ]


def test_failures_by_signature(simulate: Command, fake: Path, tmp_path: Path) -> None:
    done = simulate("run", "mixed", "--seeds", "0..29", "--timeout", "2")
    assert done.returncode == 1, done.stderr
    assert "1 seed: no end within the time limit" in done.stdout
    assert "1 seed: balance is #\n  seed 11: balance is 11\n  and more\n" in done.stdout
    assert f"  again: {fake} --run mixed --seeds 11\n" in done.stdout
    assert "30 seeds of mixed: 7 failed of 7 signatures" in done.stdout
    with sqlite3.connect(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.execute("SELECT count(*), sum(signature <> '') FROM seed").fetchone() == (30, 7)


def test_nothing_fails(simulate: Command) -> None:
    done = simulate("run", "good", "--seeds", "0..99")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("100 seeds of good: 0 failed; 2.5 min simulated in ")


def test_all_simulations_but_some(simulate: Command) -> None:
    done = simulate("run", "all", "--but", "good", "slow", "stubborn", "--seeds", "0..2", "--timeout", "1", "--once")
    assert done.returncode == 1
    for test, failed in (("mixed", 0), ("faulty", 3), ("restless", 0)):
        assert f"3 seeds of {test}: {failed} failed" in done.stdout
    assert "of good" not in done.stdout
    done = simulate("run", "all", "--but", "god", "--seeds", "0")
    assert done.returncode == 2
    assert "good" in done.stderr
    done = simulate("run", "good", "--but", "slow", "--seeds", "0")
    assert done.returncode == 2
    assert "--but does nothing without all" in done.stderr


def test_many_failures_end_it(simulate: Command) -> None:
    done = simulate("run", "bad", "--seeds", "0..99999", "--max-failures", "3", "--jobs", "1")
    assert done.returncode == 1
    assert "3 seeds: lost # records" in done.stdout
    assert "ended after 3 failures; --keep-going goes on" in done.stderr


def test_shrinking_what_was_found(simulate: Command) -> None:
    done = simulate("run", "faulty", "--seeds", "4..9", "--shrink")
    assert done.returncode == 1
    assert "6 seeds: lost # records\n  seed 4: " in done.stdout
    assert "  seed 4 of faulty with 1 diskLostWrite, 1 powerLoss" in done.stdout


def test_two_runs_that_differ(simulate: Command) -> None:
    assert simulate("run", "restless", "--seeds", "5..6").returncode == 0
    done = simulate("run", "restless", "--seeds", "6..7")
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if line.startswith("not deterministic: ")]
    assert len(lines) == 1
    assert lines[0].startswith("not deterministic: seed 6 of restless, program ")


@pytest.mark.parametrize("test", ["slow", "stubborn"])
def test_an_interrupted_run_keeps_what_is_done(fake: Path, tmp_path: Path, test: str) -> None:
    ledger, is_stubborn = tmp_path / "ledger.sqlite", tmp_path / "fake.py.stubborn"
    line = [
        sys.executable,
        MILLRACE,
        "simulate",
        "run",
        test,
        "--seeds",
        "0..99999",
        "--program",
        fake,
        "--ledger",
        ledger,
    ]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as child:
        try:
            deadline = time.monotonic() + 60
            while not _running(fake) or not (_kept(ledger) if test == "slow" else is_stubborn.exists()):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 130
    assert _running(fake) == []
    kept = _kept(ledger)
    assert out.startswith(f"{kept:,} seeds of {test}: 0 failed")
    assert kept > 0 or test == "stubborn"


def _kept(ledger: Path) -> int:
    with sqlite3.connect(ledger) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM seed")
    return int(count)


def _running(fake: Path) -> list[str]:
    """What runs seeds."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode().split("\0")
                if str(fake.with_name("fake.py")) in words and "--seeds" in words:
                    found.append(folder.name)
    return found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["god", "--seeds", "0..9"], "there is no simulation 'god'; did you mean good?"),
        (["good", "--seeds", "9..0"], "'9..0' are no seeds: the last comes before the first"),
        (["good", "--seeds", "a..b"], "'a..b' are no seeds, as 0..999: 'a' is no seed: write a number"),
        (["good", "--seeds", f"0..{sys.maxsize}"], f"seeds end before {sys.maxsize}"),
        (["good", "--seeds", "1", "--jobs", "0"], "'0' must be a number from 1 on"),
        (["good", "--seeds", "1", "--timeout", "-1"], "'-1' must be seconds, more than 0"),
        (["good", "--seeds", "1", "--jobs", "2", "--scheduler", "tcp://h:1"], "--jobs does nothing with --scheduler"),
        (["good", "--seeds", "1", "--scheduler", "x"], "'x' is no scheduler, as tcp://HOST:PORT"),
    ],
)
def test_wrong_arguments(simulate: Command, arguments: list[str], says: str) -> None:
    done = simulate("run", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_program_that_cannot_be_run(simulate: Command, tmp_path: Path) -> None:
    done = simulate("run", "good", "--seeds", "1", program=tmp_path / "nothing")
    assert (done.returncode, done.stderr) == (
        2,
        f"millrace simulate: cannot run {tmp_path}/nothing: No such file or directory\n",
    )
    done = simulate("run", "good", "--seeds", "1", program=Path("/bin/echo"))
    assert done.returncode == 2
    assert "this is no line of a program of simulations: --list" in done.stderr
    done = simulate("run", "good", "--seeds", "1", program=Path("/bin/true"))
    assert done.returncode == 2
    assert "/bin/true is no program of simulations of Millrace: its --list names none" in done.stderr


def test_a_ledger_that_cannot_be_written_is_told_of_first(simulate: Command, tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("no database, but a text of some length" * 100)
    done = simulate("run", "good", "--seeds", "1", program=tmp_path / "nothing")
    assert done.returncode == 2
    assert f"cannot write the ledger {tmp_path}/ledger.sqlite: file is not a database" in done.stderr


def test_dask_is_not_loaded_without_a_cluster() -> None:
    code = "import sys, millrace.simulate.run_command; sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    folders = f"{MILLRACE.parent}:{MILLRACE.parents[1] / 'actorc'}"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": folders}, check=False)
    assert done.returncode == 0


def test_a_ledger_that_becomes_too_large(fake: Path, tmp_path: Path) -> None:
    """As on a full disk: what was found is printed all the same."""
    line = [sys.executable, MILLRACE, "simulate", "run", "bad", "--seeds", "0..999", "--keep-going", "--program", fake]
    limited = ["prlimit", "--fsize=65536", *line, "--ledger", tmp_path / "ledger.sqlite"]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "seeds: lost # records" in done.stdout
    assert done.stderr.startswith(f"millrace simulate: the ledger {tmp_path}/ledger.sqlite: ")
    assert done.stderr.count("\n") == 1


def test_a_damaged_ledger(simulate: Command, tmp_path: Path) -> None:
    simulate("run", "good", "--seeds", "0..299")
    with (tmp_path / "ledger.sqlite").open("r+b") as file:
        file.seek(30000)
        file.write(b"\xff" * 20000)
    for done in (simulate("summary"), simulate("run", "bad", "--seeds", "0..30")):
        assert done.returncode == 2
        assert done.stderr.startswith(f"millrace simulate: the ledger {tmp_path}/ledger.sqlite: ")
        assert done.stderr.count("\n") == 1
    assert "lost # records" in done.stdout
