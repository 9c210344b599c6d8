#!/usr/bin/env python3
"""Checks that each source compiles without precompiled headers: that it includes what it uses.

Nothing is linked, and no object is written. An actor file is checked in one of its forms. Needs only the
standard library, CMake, Ninja and clang 19.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "no-pch"
OPTIONS = ("-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-fsyntax-only")

# How Ninja lists an object: its folder, its target, and its source; of an actor file without its form.
_OBJECT = re.compile(
    r"(?P<folder>.*?)CMakeFiles/(?P<target>[^/]+)\.dir/(?:[^/]+\.actors/[\w-]+/)?(?P<source>.*\.o): CXX_"
)
# Targets that compile sources of others again: for editors, as `actorc migrate` writes them, with planted faults, and
# those that do nothing but precompile headers.
_AGAIN = re.compile(r".*-(?:editor|migrated)|mutants|precompiled.*")


def objects(listing: str) -> list[str]:
    """One object of each source, from what `ninja -t targets all` prints."""
    found: dict[tuple[str, str], str] = {}
    for line in listing.splitlines():
        match = _OBJECT.match(line)
        if match and not _AGAIN.fullmatch(match["target"]):
            found.setdefault((match["folder"], match["source"]), line.split(": ")[0])
    return list(found.values())


def ninja(*arguments: str) -> list[str]:
    return ["ninja", "-C", str(BUILD), *arguments]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only the objects that have all of these in their names")
    words: list[str] = parser.parse_args().words
    configure = ["cmake", "--preset", "clang-checked", "-B", str(BUILD), *OPTIONS]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    listing = subprocess.run(ninja("-t", "targets", "all"), capture_output=True, text=True, check=True).stdout
    chosen = [name for name in objects(listing) if all(word in name for word in words)]
    if not chosen:
        parser.error("no object has such a name")
    return subprocess.run(ninja("--quiet", "-k", "0", *chosen), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
