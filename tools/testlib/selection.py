"""Which tests to run: some folders of tests/, or those with a text in their names."""

from __future__ import annotations

from dataclasses import dataclass

from common.tree import ROOT

TESTS = ROOT / "tests"
# The folders of tests/ that have programs which ctest starts; those are labelled with its name.
WITH_PROGRAMS = ("compat", "debugging", "examples", "flow", "net", "programs", "sim", "tools")


@dataclass(frozen=True, slots=True)
class Selection:
    """Of the parts with these names, the tests of these folders, or all; those with `text` in their names."""

    parts: tuple[str, ...]
    text: str = ""
    folders: tuple[str, ...] = ()
    is_fast: bool = False

    def arguments(self) -> str:
        words = [*self.parts, *(["fast"] if self.is_fast else []), *(["--filter", self.text] if self.text else [])]
        return " ".join([*words, *sorted(self.folders)])

    def is_everything(self) -> bool:
        return not self.text and not self.folders

    def unit_tests(self) -> list[str]:
        return [each for each in self.folders if each.split("/")[0] in ("flow", "net")]

    def of_network(self) -> list[str]:
        return [each for each in self.unit_tests() if each.split("/")[0] == "net"]

    def python_tests(self) -> list[str]:
        return [each for each in self.folders if any((TESTS / each).rglob("test_*.py"))]

    def with_programs(self) -> list[str]:
        return [each for each in self.folders if each in WITH_PROGRAMS]
