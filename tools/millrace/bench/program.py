"""A program of benchmarks that is run beside another, and what it measures."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from millrace.bench.results import Name, parse_name
from millrace.bench.suite import available


@dataclass(frozen=True, slots=True)
class Program:
    side: str  # as it is called in messages
    path: Path
    loop: str
    names: list[Name]
    threaded: frozenset[Name]  # those that need several processors
    digest: str


def probe(side: str, built: Path, copy: Path, loop: str) -> Program:
    """Copies the program, so that the next build does not change it, and finds out what it measures."""
    shutil.copy2(built, copy)
    names = [parse_name(name) for name in available(copy, loop)]
    single = {parse_name(name) for name in available(copy, loop, has_threads=False)}
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    return Program(side, copy, loop, names, frozenset(names) - single, digest)
