#!/usr/bin/env python3
"""Checks how many objects of a build an edit of some headers compiles again: at most as many as dependents.json says.

Reads what Ninja knows of a folder in which a preset is built. An object of several sources counts as one. Objects of
actor files, of examples and of generated sources are not counted, since they include the umbrella headers, nor is an
object that is older than its sources. Prints a line for each header, and exits with 1 if one has too many objects or is
no longer there. Needs only the standard library and Ninja.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).with_suffix(".json")

# How CMake names an object: its folder, its target, and its source; and a source that has several in it.
_OBJECT = re.compile(r"(?:(?P<folder>.*)/)?CMakeFiles/[^/]+\.dir/(?P<source>.*)\.o")
_SEVERAL = re.compile(r"Unity/unity_\d+_cxx\.cxx")
_PRECOMPILED = (".pch", ".gch")
_EXAMPLES = ("net/examples/", "tests/examples/")

# The most objects that may depend on each header, by preset.
Recorded = dict[str, dict[str, int]]


def dependencies(listing: str) -> dict[str, set[str]]:
    """The files that each output was made of, from what `ninja -t deps` prints."""
    result: dict[str, set[str]] = {}
    files: set[str] = set()
    for line in listing.splitlines():
        if line.startswith(" "):
            files.add(line.strip())
        elif ": #deps " in line:
            files = result.setdefault(line.split(": #deps ")[0], set())
    return result


def with_precompiled(made_of: dict[str, set[str]], build: Path) -> dict[str, set[str]]:
    """A precompiled header's files are files of each output that uses it, too: some compilers leave them out."""
    precompiled = {str(build / name): files for name, files in made_of.items() if name.endswith(_PRECOMPILED)}
    result = {}
    for name, files in made_of.items():
        absolute = {str(build / file) for file in files}
        uses = [its for path, its in precompiled.items() if path in absolute or path[: path.rindex(".")] in absolute]
        result[name] = absolute.union(*({str(build / file) for file in its} for its in uses))
    return result


def is_counted(name: str, root: Path) -> bool:
    """Whether the output is an object of a source that includes what it uses, and no umbrella header."""
    match = _OBJECT.fullmatch(name)
    if match is None or ".actor." in name:
        return False
    source = f"{match['folder'] or '.'}/{match['source']}".replace("/__/", "/../").removeprefix("./")
    is_source = bool(_SEVERAL.fullmatch(match["source"])) or (root / source).is_file()
    return is_source and not source.startswith(_EXAMPLES)


@cache
def changed(path: Path) -> float:
    """When the file was written; 0: it is not there."""
    return path.stat().st_mtime if path.exists() else 0


def dependents(headers: Iterable[str], listing: str, build: Path, root: Path) -> dict[str, int]:
    """How many objects depend on each header."""
    made_of = with_precompiled(dependencies(listing), build)
    counted = ((build / name, files) for name, files in made_of.items() if is_counted(name, root))
    objects = [files for path, files in counted if changed(path) >= max(changed(Path(file)) for file in files)]
    if not objects:
        raise SystemExit(f"nothing is built in {build}")
    return {header: sum(str(root / header) in files for files in objects) for header in headers}


def problems(recorded: Recorded, now: dict[str, int], preset: str, root: Path) -> list[str]:
    missing = [
        f"{header} is not there: tools/dependents.json names it" for header in recorded if not (root / header).is_file()
    ]
    return missing + [
        f"{header}: {now[header]} objects depend on it, and {most[preset]} are allowed: include it in fewer headers"
        for header, most in recorded.items()
        if now[header] > most[preset]
    ]


def main(arguments: list[str] | None = None, root: Path = ROOT, file: Path = RECORDED) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="the folder of a preset, such as build/tests")
    parser.add_argument("--record", action="store_true", help="records the numbers that are lower now, or are new")
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    run = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    recorded: Recorded = json.loads(file.read_text(encoding="utf-8"))
    now = dependents(recorded, run.stdout, build, root)
    if options.record:
        for header, most in recorded.items():
            most[build.name] = min(most.get(build.name, now[header]), now[header])
        file.write_text(json.dumps(recorded, indent=4) + "\n", encoding="utf-8")
    if any(build.name not in most for most in recorded.values()):
        raise SystemExit(f"{file.name} has no numbers for {build.name}: --record")
    for header, most in recorded.items():
        print(f"{now[header]:4} of {most[build.name]:4}  {header}")
    found = problems(recorded, now, build.name, root)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
