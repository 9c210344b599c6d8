"""An installed Millrace that all tests of this folder share, in whatever process they run."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BUILD = ROOT / "build" / "installed"


def install() -> Path:
    """The prefix. Only what has changed since the last time is built."""
    _BUILD.mkdir(parents=True, exist_ok=True)
    with (_BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        off = [f"-DMILLRACE_BUILD_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES")]
        settings = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_BUILD_TYPE=Release"]
        _run("cmake", "-S", str(ROOT), "-B", str(_BUILD), "-G", "Ninja", *settings, *off)
        # An installation builds what it needs.
        _run("cmake", "--install", str(_BUILD), "--prefix", str(_BUILD / "prefix"))
    return _BUILD / "prefix"


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
