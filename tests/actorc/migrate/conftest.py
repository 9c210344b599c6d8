"""Lets the test files here import `trees`, and gives them the stand-in for what is within actors."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import standin

import actorc_migrate


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to work in, with a stand-in for convert.py: see standin.py."""
    module = types.ModuleType("actorc_migrate.convert")
    module.convert = standin.convert  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "actorc_migrate.convert", module)
    monkeypatch.setattr(actorc_migrate, "convert", module, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
