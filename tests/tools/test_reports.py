"""What tools/test and tools/bench read from the output of other programs."""

from pathlib import Path

import pytest

from common.build import first_error
from common.counts import Counts, doctest, junit
from millrace.bench.suite import Progress


def test_doctest_summary() -> None:
    output = (
        "[doctest] test cases: 12 | 10 passed | 2 failed | 3 skipped\n[doctest] assertions: 5 | 4 passed | 1 failed |"
    )
    assert doctest(output) == Counts(10, 2)


def test_a_program_without_a_summary_failed() -> None:
    assert doctest("Segmentation fault") == Counts(0, 1)


@pytest.mark.parametrize(("code", "counts"), [(0, Counts(3, 0)), (1, Counts(3, 1))])
def test_a_leak_after_the_summary_is_a_failure(code: int, counts: Counts) -> None:
    assert Counts(3, 0).with_exit_code(code) == counts
    assert Counts(3, 2).with_exit_code(code) == Counts(3, 2)


def test_junit_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="a" name="passes"/>'
        '<testcase classname="b" name="passes"/>'
        '<testcase classname="a" name="fails"><failure message="no"/></testcase>'
        '<testcase classname="a" name="fails"><error message="nor its clean-up"/></testcase>'
        '<testcase classname="a" name="skipped"><skipped/></testcase>'
        "</testsuite></testsuites>"
    )
    assert junit(report) == Counts(2, 1)


@pytest.mark.parametrize("text", [None, "<testsuites>"])
def test_a_report_that_cannot_be_read_is_a_failure(tmp_path: Path, text: str | None) -> None:
    report = tmp_path / "report.xml"
    if text is not None:
        report.write_text(text)
    assert junit(report) == Counts(0, 1)


def test_first_error_of_a_build() -> None:
    output = """\
[1/9] Building CXX object a.o
FAILED: b.o
/usr/bin/clang++ -c b.cpp
b.cpp:3:1: error: no
    3 | x
[2/9] Building CXX object c.o
FAILED: d.o
/usr/bin/clang++ -c d.cpp
d.cpp:1:1: error: neither
ninja: build stopped: subcommand failed."""
    assert first_error(output.splitlines()) == ["FAILED: b.o", "b.cpp:3:1: error: no", "    3 | x"]


def test_an_error_of_ninja_itself_is_shown() -> None:
    assert first_error(["ninja: error: no such target"]) == ["ninja: error: no such target"]


def test_progress_counts_repetitions_but_not_first_tries() -> None:
    class Bar:
        done: tuple[int, int] = (0, 0)

        def update(self, done: int, total: int) -> None:
            self.done = (done, total)

    bar = Bar()
    progress = Progress(4, bar)
    steps = [("A", 1, 0), ("A", 10, 0), ("B", 1, 0), ("A", 50, 0), ("B", 7, 0), ("A", 50, 1), ("B", 7, 2), ("A", 50, 3)]
    for name, iterations, done in steps:
        progress.line(f"running {name}, {iterations} iterations")
        assert bar.done == (done, 4)
    progress.line("something else")
    assert bar.done == (3, 4)
