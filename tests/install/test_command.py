"""The command `millrace` of an installation, and of a wheel: with a Python that has only what actorc needs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from millrace.commands import COMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Starts in a fraction of the time of a venv with the same packages."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "packages").mkdir()
    for name in ("jinja2", "markupsafe", "elftools"):
        spec = find_spec(name)
        assert spec and spec.origin
        (folder / "packages" / name).symlink_to(Path(spec.origin).parent)
    program = folder / "python"
    base = Path(sys.base_prefix) / "bin" / "python3"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{folder}/packages" exec {base} -S "$@"\n')
    program.chmod(0o755)
    return program


def millrace(prefix: Path, python: Path, *arguments: str) -> Done:
    command = [prefix / "bin" / "millrace", *arguments]
    environment = {**os.environ, "MILLRACE_PYTHON": str(python), "PYTHONPATH": ""}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_each_command_has_help_without_the_packages_that_it_needs(prefix: Path, python: Path) -> None:
    shown = millrace(prefix, python, "--help")
    assert shown.returncode == 0, shown.stderr
    for name in COMMANDS:
        assert f"\n  {name} " in shown.stdout
        done = millrace(prefix, python, name, "--help")
        assert done.returncode == 0 and done.stdout.startswith(f"usage: millrace {name} "), done.stderr


@pytest.mark.parametrize(
    ("arguments", "packages"),
    [
        (["console", "1"], "rich"),
        (["profile", "true"], "rich and plotly"),
        (["simulate", "summary"], "rich"),
    ],
)
def test_what_is_missing_is_named(prefix: Path, python: Path, arguments: list[str], packages: str) -> None:
    done = millrace(prefix, python, *arguments)
    assert done.returncode == (2 if arguments[0] == "simulate" else 1)
    assert done.stderr.startswith(f"millrace {arguments[0]} needs {packages}: `")
    assert f"pip install {packages.replace(' and ', ' ')}`" in done.stderr


def test_what_needs_no_package_works_and_nothing_is_written_into_the_prefix(prefix: Path, python: Path) -> None:
    before = set((prefix / "share" / "millrace" / "millrace").rglob("*"))
    assert "| `flow/flow.h` |" in millrace(prefix, python, "port", "--headers").stdout
    script = prefix.resolve() / "share" / "millrace" / "millrace" / "debugger" / "millrace_gdb.py"
    assert millrace(prefix, python, "debugger", "gdb").stdout == f"source {script}\n"
    assert script.is_file() and not (prefix / "share" / "gdb").exists(), "gdb trusts only /usr"
    assert millrace(prefix, python, "--version").stdout == "millrace 0.1.0\n"
    assert set((prefix / "share" / "millrace" / "millrace").rglob("*")) == before


def test_a_wheel(python: Path, tmp_path: Path) -> None:
    for project in ("actorc", "tools/millrace"):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
        subprocess.run(build, cwd=REPOSITORY / project, check=True, capture_output=True)
    for wheel in sorted(tmp_path.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "site")
    site = tmp_path / "site"
    assert {path.name for path in site.iterdir()} >= {"actorc", "actorc_check", "millrace"}
    assert (site / "millrace" / "trace" / "page.html").is_file() and not (site / "millrace" / "pyproject.toml").exists()
    about = (site / "millrace-0.1.0.dist-info" / "METADATA").read_text(encoding="utf-8")
    assert "Requires-Dist: actorc\n" in about and "Provides-Extra: pages\n" in about
    command = [python, "-m", "millrace", "port", "--headers"]
    environment = {**os.environ, "PYTHONPATH": str(site), "PKG_CONFIG_PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "") and "pkg-config must find millrace.pc" in done.stderr
