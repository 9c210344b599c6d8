"""Whatever a program does, each seed has a record, and the next ones are run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from millrace.simulate.batch import Batch, Record, numberless


def records(program: Path, test: str, first: int, last: int, seconds: float = 20) -> dict[int, Record]:
    found: dict[int, Record] = {}

    def emit(record: Record) -> None:
        found[record["seed"]] = record

    Batch([str(program), "--run", test], seconds, {}, emit, lambda: False).run(first, last)
    return found


def signatures(found: dict[int, Record]) -> dict[int, str]:
    return {seed: each["failure"]["signature"] for seed, each in found.items() if each["failure"]}


def test_seeds_as_the_program_says(fake: Path) -> None:
    found = records(fake, "good", 0, 20)
    assert list(found) == list(range(21))
    assert signatures(found) == {}
    assert found[3]["digest"] == f"{3:016x}"
    assert found[3]["faults"] == {"clog": 1}


def test_each_misbehaviour_is_the_failure_of_its_seed(fake: Path) -> None:
    found = records(fake, "mixed", 0, 4) | records(fake, "mixed", 6, 16)
    assert sorted(found) == [seed for seed in range(17) if seed != 5]
    assert signatures(found) == {
        3: "killed by SIGABRT: assertion failed: x is # [x == #] at queue.cpp:#",
        7: "a line that is no result; print to standard error: what is this #?",
        9: "exit code 0",
        11: "balance is #",
        12: 'a line that is no result; print to standard error: {"seed":#}',
        14: "exit code 1: AddressSanitizer: heap-use-after-free b.cpp:#:# in f(int)",
    }
    assert "/a/b3/queue.cpp:3" in found[3]["failure"]["text"]
    assert found[11]["failure"]["text"] == "balance is 11\nand more"


def test_numbers_are_left_out() -> None:
    assert numberless("object 0x7ffc01ab of e29b41d4-a716 and s1") == "object # of #-# and s#"
    assert numberless("added a bad cafe to a1 for 500ms") == "added a bad cafe to a# for #ms"


def test_a_seed_that_hangs(fake: Path) -> None:
    found = records(fake, "mixed", 4, 6, seconds=1)
    assert sorted(found) == [4, 5, 6]
    assert signatures(found) == {5: "no end within the time limit"}
    assert found[5]["failure"]["text"] == "no end within 1 s of real time"


def test_what_fails_at_the_end_is_found_among_the_seeds(fake: Path) -> None:
    assert signatures(records(fake, "leaky", 0, 9)) == {4: "exit code 23"}


def test_stopping_ends_the_program(fake: Path) -> None:
    began = time.monotonic()
    found: list[Record] = []
    Batch([str(fake), "--run", "mixed"], 60, {}, found.append, lambda: len(found) == 1).run(4, 6)
    assert [each["seed"] for each in found] == [4]
    assert time.monotonic() - began < 30


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        records(tmp_path / "nothing", "good", 0, 1)
