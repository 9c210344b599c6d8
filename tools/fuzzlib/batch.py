"""Runs programs by the model and as each back end made them, and tells where they differ.

Many programs share one file, since most of the time goes into starting the compiler.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from actorc.diagnostics import Diagnostics
from actorc.driver import BACKENDS, Rejected, analyse
from actorc.emit.emit import emit
from actorc.reference import Interpreter
from actorc.reference.facts import Facts
from actorc.source import Source
from actorc.syntax import File
from fuzzlib.parser_fuzz import described
from fuzzlib.toolchain import CompileError, Toolchain, environment
from fuzzlib.world import World, expected

RUNS = 8  # of each program, with different numbers
SECONDS = 60  # for all runs of a batch
MODEL = "model"
FILE = "fuzz.actor.cpp"
ACTORC_FAILED = "actorc failed: "
MODEL_FAILED = "model failed: "

_HEAD = '#include "flow/actorcompiler.h"\n\nnamespace FUZZ_NAMESPACE {\n\n'
_POSITION = re.compile(re.escape(FILE) + r":(\d+)")


@dataclass(frozen=True, slots=True)
class Program:
    """`start`: what the numbers of its runs begin from."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A run in which not all agree. `seed` is 0 if it never ran, and then `message` says why."""

    program: Program
    seed: int
    kind: str
    message: str = ""
    traces: dict[str, list[str]] = field(default_factory=dict)


class ActorcFailedError(Exception):
    """An exception in actorc, which does not tell of which program."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


# What a test of the harness does to emitted text: (text, back end) -> text.
Mutation = Callable[[str, str], str]


def check(
    programs: Sequence[Program], toolchain: Toolchain, mutation: Mutation | None = None, runs: int = RUNS
) -> list[Difference]:
    """The first difference of each program that has one."""
    sys.setrecursionlimit(20000)
    try:
        return _Batch(programs, toolchain, mutation, runs).check()
    except ActorcFailedError as failed:
        if len(programs) == 1:
            return [_failure(programs[0], ACTORC_FAILED, failed.error)]
    middle = len(programs) // 2
    halves = programs[:middle], programs[middle:]
    return [found for half in halves for found in check(half, toolchain, mutation, runs)]


def _failure(program: Program, kind: str, error: Exception) -> Difference:
    message = "".join(traceback.format_exception(error))
    return Difference(program, 0, kind + described(error), message[-4000:])


@contextmanager
def _in_actorc() -> Iterator[None]:
    try:
        yield
    except Rejected:
        raise
    except Exception as error:
        raise ActorcFailedError(error) from error


class _Batch:
    def __init__(self, programs: Sequence[Program], toolchain: Toolchain, mutation: Mutation | None, runs: int) -> None:
        self._programs = programs
        self._runs = runs
        self._toolchain = toolchain
        self._mutation = mutation
        self._found: dict[int, Difference] = {}
        self._ranges: list[range] = []  # of each program's text in the file
        text = _HEAD
        for place, program in enumerate(programs):
            text += f"namespace p{place} {{\n"
            self._ranges.append(range(len(text), len(text) + len(program.text)))
            text += f"{program.text}\n{_registration(place, program.start)}}}\n\n"
        self._source = Source(FILE, text + "}\n")

    def check(self) -> list[Difference]:
        diagnostics = Diagnostics()
        try:
            with _in_actorc():
                file = analyse(self._source, diagnostics)
        except Rejected:
            for error in diagnostics.errors:
                self._note(self._program_at(error.span.start), "rejected", error.message)
            return self._rest()
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            try:
                binary = self._build(self._emit(file, Path(name)), Path(name))
            except CompileError as error:
                return self._compile_errors(str(error))
            traces = self._run(binary)
        self._compare(file, traces)
        return list(self._found.values())

    def _note(self, place: int, kind: str, message: str, seed: int = 0, **traces: list[str]) -> None:
        named = {name.replace("_", "-"): trace for name, trace in traces.items()}
        self._found.setdefault(place, Difference(self._programs[place], seed, kind, message, named))

    def _program_at(self, offset: int) -> int:
        return next(place for place, each in enumerate(self._ranges) if offset <= each.stop)

    def _rest(self) -> list[Difference]:
        """What is wrong with the programs in which no fault has been found yet, without the others."""
        rest = [program for place, program in enumerate(self._programs) if place not in self._found]
        others = check(rest, self._toolchain, self._mutation, self._runs) if rest else []
        return [*self._found.values(), *others]

    # -----------------------------------------------------------------------------------------------------------

    def _emit(self, file: File, folder: Path) -> list[Path]:
        """By all back ends, before any compiler is started: an exception then costs little."""
        paths = []
        for backend in BACKENDS:
            path = folder / f"{backend}.cpp"
            with _in_actorc():
                text = emit(file, self._source, backend, str(path))
            if self._mutation is not None:
                text = self._mutation(text, backend)
            names = f'#define FUZZ_BACKEND "{backend}"\n#define FUZZ_NAMESPACE {backend.replace("-", "_")}\n'
            path.write_text(names + text, encoding="utf-8")
            paths.append(path)
        return paths

    def _build(self, sources: Sequence[Path], folder: Path) -> Path:
        shared = self._toolchain.prepare()
        objects = [self._toolchain.compile(shared, source) for source in sources]
        self._toolchain.link(shared, objects, folder / "programs")
        return folder / "programs"

    def _compile_errors(self, message: str) -> list[Difference]:
        lines = [int(number) for number in _POSITION.findall(message)]
        if not lines:
            raise CompileError(message)
        offset = sum(len(line) for line in self._source.text.splitlines(keepends=True)[: lines[0]]) - 1
        self._note(self._program_at(offset), "does not compile", message[:4000])
        return self._rest()

    def _run(self, binary: Path) -> dict[tuple[int, int, str], list[str]]:
        traces: dict[tuple[int, int, str], list[str]] = {}
        output, message = _execute(binary, self._runs)
        self._read(output, message, traces)
        if message:  # what came after the run that crashed
            ended = {place for place, _, _ in traces}
            for place in range(len(self._programs)):
                if place not in ended:
                    self._read(*_execute(binary, self._runs, place), traces)
        return traces

    def _read(self, output: str, message: str, traces: dict[tuple[int, int, str], list[str]]) -> None:
        before: list[str] = []
        place, seed = 0, 0
        for block in output.split("# ")[1:]:
            head, *lines = block.rstrip("\n").split("\n")
            words = head.split()
            place, seed = int(words[0]), int(words[1])
            before = before if words[3:] == ["same"] else lines
            traces[place, seed, words[2]] = before
        if message:
            self._note(place, "crash", message, seed)

    def _compare(self, file: File, traces: dict[tuple[int, int, str], list[str]]) -> None:
        facts = Facts(self._source)
        for place, (program, inside) in enumerate(zip(self._programs, self._ranges, strict=True)):
            actors = tuple(actor for actor in file.actors if actor.span.start in inside)
            for seed in range(1, self._runs + 1):
                if place in self._found:
                    break
                world = World(program.start + seed)
                try:
                    model = Interpreter(File(actors, file.words), facts, world.library)
                    trace = expected(model, world, program.start + seed)
                except Exception as error:
                    self._found[place] = replace(_failure(program, MODEL_FAILED, error), seed=seed)
                    break
                others = {backend: traces[place, seed, backend] for backend in BACKENDS}
                wrong = [backend for backend, other in others.items() if other != trace]
                if wrong:
                    kind = f"{' and '.join(wrong)} against the model"
                    difference = Difference(program, seed, kind, "", {MODEL: trace, **others})
                    self._found[place] = difference


def _registration(place: int, start: int) -> str:
    root = "[](Token const& token, int n) { return root(token, n); }"
    return f"static Registration registration({place}, {start}, FUZZ_BACKEND, {root});\n"


def _execute(binary: Path, *arguments: int) -> tuple[str, str]:
    """What the programs print, and what is to be said of a crash."""
    command = [str(binary), *map(str, arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False, env=environment()
        )
    except subprocess.TimeoutExpired as error:
        output = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
        return output, f"no end within {SECONDS} s"
    message = done.stderr[:6000] or f"exit code {done.returncode}"
    return done.stdout, message if done.returncode or done.stderr else ""
