"""tools/setup: that the script is whole, and that help is had without it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = ROOT / "tools" / "setup"
TOOLS = sorted(path.name for path in SETUP.parent.iterdir() if path.is_file() and not path.suffix)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SETUP, *arguments], capture_output=True, text=True, check=False)


def test_an_unknown_set_of_packages_is_refused() -> None:
    done = run("everything")
    assert done.returncode == 2
    assert "there is no set of packages 'everything'" in done.stderr


def test_it_ends_with_the_stamp_that_spares_the_next_run() -> None:
    assert SETUP.read_text(encoding="utf-8").rstrip().endswith('echo "$wanted" >"$venv/stamp"\nfi')


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree without .venv, and in `bin` a dpkg-query that notes its calls: it is the first program that setup runs."""
    tree = tmp_path_factory.mktemp("bare")
    for part in ("tools", "actorc"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "bin").mkdir()
    (tree / "bin" / "dpkg-query").write_text(f"#!/bin/sh\ntouch {tree}/was_run\n")
    (tree / "bin" / "dpkg-query").chmod(0o755)
    return tree


@pytest.mark.parametrize("tool", TOOLS)
def test_help_sets_nothing_up(tool: str, bare: Path) -> None:
    environment = os.environ | {"PATH": f"{bare}/bin:/usr/bin:/bin"}
    for root in (ROOT, bare):
        command = [root / "tools" / tool, "--help"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode and root is bare and tool in ("bench", "console", "fuzz", "port", "profile"):
            assert f"run {bare}/tools/setup first" in done.stderr
        else:
            assert done.returncode == 0, done.stderr
            assert f"tools/{tool}" in done.stdout or tool == "actorc"
    assert not (bare / "was_run").exists()
    assert not (bare / ".venv").exists()


def test_without_help_a_tool_is_set_up_first(bare: Path) -> None:
    environment = os.environ | {"PATH": f"{bare}/bin:/usr/bin:/bin"}
    (bare / "bin" / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (bare / "bin" / "apt-get").chmod(0o755)
    (bare / "bin" / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (bare / "bin" / "sudo").chmod(0o755)
    done = subprocess.run([bare / "tools" / "port"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (bare / "was_run").exists()
    (bare / "was_run").unlink()


def test_actorc_compiles_where_only_the_libraries_were_set_up(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "a.actor.cpp").write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n")
    command = [bare / "tools" / "actorc", tmp_path / "a.actor.cpp", tmp_path / "a.g.cpp"]
    done = subprocess.run(
        command, env=os.environ | {"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.g.cpp").exists()
