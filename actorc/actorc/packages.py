"""The few packages that parts of actorc need. actorc starts without site-packages, since compiling needs none."""

from __future__ import annotations

import importlib.util
import site
import sys


class PackageMissing(Exception):
    """The text says which, and how to install it."""


def find_package(module: str, package: str) -> None:
    """Makes a module importable."""
    if importlib.util.find_spec(module) is None:
        site.main()
    if importlib.util.find_spec(module) is None:
        raise PackageMissing(f"{package} is not installed: `{sys.executable} -m pip install {package}`")
