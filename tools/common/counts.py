"""Reads from the reports of test programs how many tests passed and how many failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_DOCTEST_SUMMARY = re.compile(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed")


@dataclass(frozen=True, slots=True)
class Counts:
    passed: int = 0
    failed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed)

    def with_exit_code(self, code: int) -> Counts:
        """A program that fails without naming a failed test (a leak at exit, a crash) counts as failed."""
        return self + Counts(0, 1) if code and not self.failed else self


def doctest(output: str) -> Counts:
    """Counts by the summary line. Without one the program crashed, which counts as one failure."""
    found = _DOCTEST_SUMMARY.search(output)
    return Counts(int(found[1]), int(found[2])) if found else Counts(0, 1)


def junit(report: Path) -> Counts:
    """By a JUnit report, as pytest and ctest write it; skipped tests count neither way."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return Counts(0, 1)
    # A test which fails and then fails again in its clean-up is reported twice under one name.
    failed = {_name(case) for case in cases if case.find("failure") is not None or case.find("error") is not None}
    ran = {_name(case) for case in cases if case.find("skipped") is None}
    return Counts(len(ran - failed), len(failed))


def _name(case: ElementTree.Element) -> tuple[str | None, str | None]:
    return case.get("classname"), case.get("name")
