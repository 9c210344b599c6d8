"""The few packages that parts of actorc need. actorc starts without site-packages, since compiling needs none."""

from __future__ import annotations

import importlib.util
import os
import site
import sys
import sysconfig


class PackageMissing(Exception):
    """The text says which, and how to install it."""


def find_package(module: str, package: str) -> None:
    """Makes a module importable."""
    if importlib.util.find_spec(module) is None:
        site.main()
    if importlib.util.find_spec(module) is None:
        raise PackageMissing(f"{package} is not installed: {how_to_install(package)}")


def how_to_install(*packages: str) -> str:
    """pip refuses to install into the Python of Debian 12 and others (PEP 668)."""
    names = " ".join(packages)
    marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix != sys.base_prefix or not os.path.exists(marker):
        return f"`{sys.executable} -m pip install {names}`"
    venv = "~/.actorc"
    install = f"`{sys.executable} -m venv {venv} && {venv}/bin/pip install {names}`"
    return f"{install}, then `export MILLRACE_PYTHON={venv}/bin/python`"
