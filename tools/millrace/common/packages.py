"""The packages of Python that parts of the command need, and the place of Millrace's headers."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from actorc.packages import how_to_install
from millrace.common.failure import Failure

# The folder that has millrace/: tools/ of the sources, share/millrace/ of an installation, or that of a wheel.
_HERE = Path(__file__).resolve().parents[2]


def require(command: str, *packages: str) -> None:
    """A Failure that says which are missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise Failure(f"{command} needs {' and '.join(missing)}: {how_to_install(*missing)}")


@cache
def headers_folder() -> Path:
    """The folder that has flow/ and net/: of these sources, or of the installation."""
    for folder in (_HERE.parent, _HERE.parents[1] / "include" / "millrace"):
        if _is_ours(folder):
            return folder
    try:
        asked = ["pkg-config", "--variable=prefix", "millrace"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        folder = Path(done.stdout.strip()) / "include" / "millrace"
    except OSError:
        folder = _HERE
    if not _is_ours(folder):
        raise Failure("Millrace's headers are not there: pkg-config must find millrace.pc (see PKG_CONFIG_PATH)")
    return folder


def _is_ours(folder: Path) -> bool:
    return (folder / "flow" / "base" / "error_table.h").is_file()
