"""A program that is compiled otherwise than the runtime must not link: it would lose waiters, or write past cells."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '#include "flow/core/future.h"\nint main() { flow::Promise<int> promise; promise.send(1); }\n'
COMPILER, OTHER = "g++-12", "clang++-19"
FLAGS = ("-std=c++20", "-O2", f"-I{ROOT}", "-c")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of what a promise needs."""
    folder = tmp_path_factory.mktemp("runtime")
    sources = [path for layer in ("base", "memory", "core") for path in (ROOT / "flow" / layer).glob("*.cpp")]
    for source in sources:
        subprocess.run([COMPILER, *FLAGS, source, "-o", folder / f"{source.stem}.o"], check=True)
    library = folder / "runtime.a"
    subprocess.run(["ar", "rcs", library, *(folder / f"{source.stem}.o" for source in sources)], check=True)
    return library


def link(runtime: Path, folder: Path, *settings: str, compiler: str = COMPILER) -> str:
    """What the linker says of a program with these settings, of this compiler, and a runtime without them."""
    (folder / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    program = folder / "main.o"
    subprocess.run([compiler, *FLAGS, *settings, folder / "main.cpp", "-o", program], check=True)
    linked = subprocess.run(
        [COMPILER, program, runtime, "-o", folder / "program"], capture_output=True, text=True, check=False
    )
    assert (linked.returncode != 0) == (bool(settings) or compiler != COMPILER)
    return linked.stderr


@pytest.mark.parametrize(
    ("setting", "missing"),
    [
        ("-DFLOW_TAIL_CALLS=0", "compiledByGccWithTailCalls0AndChecked0"),
        ("-DFLOW_CHECKED=1", "compiledByGccWithTailCalls1AndChecked1"),
    ],
)
def test_settings_that_differ_do_not_link(runtime: Path, tmp_path: Path, setting: str, missing: str) -> None:
    assert missing in link(runtime, tmp_path, setting)


def test_a_program_of_another_compiler_does_not_link(runtime: Path, tmp_path: Path) -> None:
    """Clang takes it that some functions keep all registers, which gcc's do not."""
    said = link(runtime, tmp_path, compiler=OTHER)
    assert "compiledByClangWithTailCalls1AndChecked0" in said
    assert "[abi:rare]" in said


def test_functions_that_keep_registers_are_not_exported(tmp_path: Path) -> None:
    """The dynamic linker would not keep them when it looks such a function up at its first call."""
    (tmp_path / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "main.o"
    subprocess.run([OTHER, *FLAGS, "-fPIC", tmp_path / "main.cpp", "-o", program], check=True)
    symbols = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True).stdout
    rare = [line for line in symbols.splitlines() if "B4rare" in line]
    assert rare
    assert all("HIDDEN" in line for line in rare)


def test_equal_settings_link(runtime: Path, tmp_path: Path) -> None:
    assert link(runtime, tmp_path) == ""
