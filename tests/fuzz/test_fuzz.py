"""A few random actors, compiled by each back end and compiler, must print what the model says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actorc.driver import compile_text
from actorc.source import Source

sys.path.insert(0, str(Path(__file__).parent))

from actor_fuzz import expected, generate, program

ROOT = Path(__file__).parents[2]
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-DNO_INTELLISENSE", "-I", str(ROOT)]


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """For each compiler the object files of the runtime, without sanitizers."""
    found: dict[str, list[str]] = {}
    for compiler in COMPILERS:
        folder = tmp_path_factory.mktemp(compiler)
        sources = [str(path) for path in (ROOT / "flow").rglob("*.cpp")]
        subprocess.run([compiler, *FLAGS, "-c", *sources], cwd=folder, check=True)
        found[compiler] = [str(path) for path in folder.glob("*.o")]
    return found


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("backend", ["state-machine", "coroutine"])
def test_random_actors(backend: str, compiler: str, runtime: dict[str, list[str]], tmp_path: Path) -> None:
    actors = generate(seed=5, count=8)
    emitted, binary = tmp_path / "fuzz.g.cpp", tmp_path / "fuzz"
    emitted.write_text(compile_text(Source("fuzz.actor.cpp", program(actors)), backend, str(emitted)), encoding="utf-8")
    trace = ["-iquote", str(ROOT / "tests" / "programs")]
    subprocess.run([compiler, *FLAGS, *trace, str(emitted), *runtime[compiler], "-o", str(binary)], check=True)
    run = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr == ""
    assert run.returncode == 0
    assert run.stdout.splitlines() == expected(actors).splitlines()
