"""Mutants are planted where they belong, and nowhere else."""

from __future__ import annotations

import pytest

from millrace.common.failure import Failure
from mutantslib.catalogue import MUTANTS
from mutantslib.mutant import Mutant, planted

SWITCHED = Mutant("OneMore", "a.cpp", "i < n", "i < n + (PLANTED ? 1 : 0)")
ALONE = Mutant("OneLess", "a.cpp", "kMost = 8", "kMost = 7")


def test_what_can_be_switched_is_planted_together() -> None:
    text = "constexpr int kMost = 8;\nwhile (i < n)\n"
    assert planted(text, [SWITCHED, ALONE], "planted.h") == (
        '#include "planted.h"\n#line 1\nconstexpr int kMost = 8;\nwhile (i < n + (planted::isOn("OneMore") ? 1 : 0))\n'
    )
    assert planted(text, [ALONE], "planted.h") == text
    assert ALONE.planted(text).startswith("constexpr int kMost = 7;")


@pytest.mark.parametrize("text", ["i <= n", "i < n; i < n"])
def test_a_place_that_is_not_there_once_is_an_error(text: str) -> None:
    with pytest.raises(Failure, match=r"the place of the mutant OneMore is (not there|there 2 times): i < n"):
        SWITCHED.planted(text)


def test_the_catalogue() -> None:
    """The places themselves are looked at by tools/tidy.py."""
    assert len({mutant.name for mutant in MUTANTS}) >= 100
    for mutant in MUTANTS:
        assert mutant.before != mutant.after
        assert mutant.is_switched != mutant.file.endswith(".py"), f"{mutant.name}: nothing switches Python on and off"
    folders = {"/".join(mutant.file.split("/")[:2]) for mutant in MUTANTS}
    assert {"flow/core", "flow/loop", "flow/sync", "flow/sim", "net/real", "net/message", "actorc/actorc"} <= folders
