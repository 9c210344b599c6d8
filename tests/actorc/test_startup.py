"""Most runs compile one file, so that what is imported is paid for once a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "actorc"
# Each takes as long as 100 lines of a source, or much longer.
SLOW = {"dataclasses", "inspect", "typing", "pathlib", "traceback", "jinja2", "json", "tempfile", "subprocess"}


def test_the_folder_runs_without_being_installed(tmp_path: Path) -> None:
    source = tmp_path / "a.actor.cpp"
    source.write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n")
    subprocess.run([sys.executable, "-I", "-S", PACKAGE, "a.actor.cpp", "a.g.cpp"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.g.cpp").exists()
    failed = subprocess.run([sys.executable, "-I", "-S", PACKAGE, "none", "a.g.cpp"], cwd=tmp_path, capture_output=True)
    assert failed.returncode == 1
    assert b"No such file" in failed.stderr


def test_where_no_bytecode_may_be_written_the_cache_of_the_user_has_it(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "actorc", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "a.actor.cpp"
    source.write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    command = [sys.executable, "-S", tmp_path / "actorc", source, tmp_path / "a.g.cpp"]
    subprocess.run(command, env=environment, check=True)
    assert list((tmp_path / "cache" / "millrace").rglob("driver.*.pyc"))
    assert not list((tmp_path / "actorc").rglob("*.pyc"))


@pytest.mark.parametrize("backend", ["state-machine", "coroutine"])
def test_a_run_loads_no_slow_modules(backend: str, tmp_path: Path) -> None:
    source = tmp_path / "a.actor.cpp"
    source.write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n")
    arguments = [str(source), str(tmp_path / "a.g.cpp"), "--backend", backend, "--depfile", str(tmp_path / "a.d")]
    program = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); before = set(sys.modules)\n"
        f"from actorc.__main__ import main; status = main({arguments!r})\n"
        "print(status, *sorted(set(sys.modules) - before))"
    )
    # -S: what lies in site-packages is none of ours, and actorc needs nothing from there.
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    status, *loaded = done.stdout.split()
    assert status == "0"
    assert "actorc.emit.emit" in loaded
    assert SLOW.intersection(loaded) == set()
    assert [name for name in loaded if name.startswith("actorc_")] == []
