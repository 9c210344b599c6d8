"""Lets the test files here import their neighbours."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def shell(prefix: Path) -> dict[str, str]:
    """The environment of a user's shell: it finds what is installed."""
    return {
        **os.environ,
        "MILLRACE_ERROR_ORIGINS": "0",  # what is installed here is checked, and would print more than a page shows
        "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
        "MILLRACE_PYTHON": sys.executable,
    }
