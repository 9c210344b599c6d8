"""millrace bench compare: two programs, two revisions, or what was measured before."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from millrace.bench.compare_report import describe_recording
from millrace.bench.comparing import Settings
from millrace.bench.comparing import compare as compare_sides
from millrace.bench.program import Program, probe
from millrace.bench.recorded import Recorded, Recording, existing, read
from millrace.bench.suite import choose
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.process import stream

WORKING_TREE = "."


def compare(options: argparse.Namespace, console: Console, out: Console) -> int:
    if (options.build is None) != (options.program is None):
        raise UsageError("--build COMMAND and --program PATH belong together")
    settings = Settings(options.filter, options.rounds, options.fail_above, options.json)
    settings.check()
    words = (options.a, options.b)
    recorded = {i: Recorded(word, existing(Path(word)), None) for i, word in enumerate(words) if word.endswith(".json")}
    recordings: dict[int, Recording] = {i: read(side) for i, side in recorded.items()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="millrace-bench-")))
        programs: dict[int, Program] = {}
        lines = []
        for i, word in enumerate(words):
            if i in recordings:
                lines.append(describe_recording(i, recorded[i], recordings[i]))
                continue
            built = _built(word, folder / f"tree-{'AB'[i]}", options, stack, console)
            programs[i] = probe(word, built, folder / "AB"[i], options.loop)
            lines.append(f"{'AB'[i]}: {word}: {options.loop} loop")
        return compare_sides(programs, recordings, lines, partial(_choose, options.filter), settings, console, out)


def _choose(pattern: str, names: Sequence[str]) -> list[str]:
    return choose(names, pattern)


def _built(word: str, tree: Path, options: argparse.Namespace, stack: ExitStack, console: Console) -> Path:
    """The program of a side."""
    if options.build is None:
        if not Path(word).is_file():
            raise UsageError(f"'{word}' is no program and no file of results; a revision needs --build and --program")
        return Path(word).resolve()
    if word == WORKING_TREE:
        tree = Path.cwd()
    else:
        _git("worktree", "add", "--detach", "--quiet", str(tree), word)
        stack.callback(_git, "worktree", "remove", "--force", str(tree))
    console.print(f"building {word}")
    lines: list[str] = []
    if stream(["sh", "-c", options.build], lines.append, tree):
        raise Failure("\n".join([*lines[-20:], f"{word} does not build: {options.build}"]))
    program: Path = tree / options.program
    if not program.is_file():
        raise Failure(f"{options.build} has not made {options.program} of {word}")
    return program


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"git {arguments[0]}: {done.stderr.strip()}")
