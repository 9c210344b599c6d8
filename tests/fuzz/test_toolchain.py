"""What programs share is built once, and what other headers left behind is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzlib import toolchain
from fuzzlib.toolchain import KEPT, Toolchain


def test_folders_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "ROOT", tmp_path)
    monkeypatch.setattr(toolchain, "build", lambda *_: None)
    monkeypatch.setattr(Toolchain, "_build", lambda *_: None)
    other = Toolchain("gcc", "gcc-checked", "g++", ()).prepare()
    made = [Toolchain("clang", "clang-checked", "clang++-19", (f"-DN={number}",)) for number in range(KEPT + 1)]
    used = [each.prepare() for each in made[:KEPT]]
    Toolchain.prepare.__wrapped__(made[0])  # as another run would, which has no cache
    last = made[KEPT].prepare()
    left = {each.name for each in (tmp_path / "build" / "fuzz").iterdir()}
    assert left == {each.name for each in (other, used[0], *used[2:], last)}
