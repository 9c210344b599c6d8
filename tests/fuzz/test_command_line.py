"""The command line of tools/fuzz: no option may do nothing."""

from __future__ import annotations

import pytest

from fuzzlib.options import parse_arguments


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--programs 0",
        "--programs -5",
        "--programs 5 --jobs 0",
        "--parser --executions 0",
        "--program -1",
        "--programs 5 --first -1",
        "--programs 5 --only 3",
        "--programs 5 --executions 3",
        "--program 5 --first 3",
        "--program 5 --jobs 3",
        "--parser --first 3",
        "--parser --compiler clang",
        "--parser --only 3 --executions 5",
        "--parser --migrate flow",
        "--programs 5 --migrate another",
    ],
)
def test_wrong_arguments(line: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        parse_arguments(line.split())
    assert exit_.value.code == 2


@pytest.mark.parametrize(
    "line",
    [
        "--programs 5 --first 0 --jobs 2 --compiler clang --seed 3",
        "--program 0 --seed 1 --compiler gcc",
        "--programs 5 --migrate flow --migrate foundationdb",
        "--program 5 --migrate flow",
        "--parser --only 0 --seed 1",
        "--parser --executions 5 --jobs 2",
    ],
)
def test_right_arguments(line: str) -> None:
    parse_arguments(line.split())
