"""Runs programs in the model and as the back ends or `actorc migrate` emit them, and reports differences.

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
from actorc.source import Source
from actorc.syntax import File
from fuzzlib.forms import headers_of, migrated, root_arguments, target_of, told_apart
from fuzzlib.parser_fuzz import described
from fuzzlib.toolchain import CompileError, Toolchain, environment
from fuzzlib.world import World, expected
from model import Interpreter
from model.facts import Facts

RUNS = 8  # of each program, with different numbers
SECONDS = 60  # for all runs of a batch
MODEL = "model"
FILE = "fuzz.actor.cpp"
ACTORC_FAILED = "actorc failed: "
MODEL_FAILED = "model failed: "
NOT_MIGRATED = "not migrated"

_NAMESPACE = "namespace FUZZ_NAMESPACE {\n\n"
_HEAD = f'#include "flow/actorcompiler.h"\n\n{_NAMESPACE}'
_MIGRATED_FILE = "fuzz.program{}.cpp"  # the file of a compiler's error shows the program
_POSITION = re.compile(rf"{re.escape(FILE)}:(\d+)|fuzz\.program(\d+)\.cpp:\d+")
_ERROR = re.compile(rf"^(?:{_POSITION.pattern})[:\d]*: (?:fatal )?error:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """`start`: what the numbers of its runs begin from."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A run with different traces. `seed` is 0 if it never ran; then `message` says why."""

    program: Program
    seed: int
    kind: str
    message: str = ""
    traces: dict[str, list[str]] = field(default_factory=dict)


class ActorcFailedError(Exception):
    """An exception in actorc, without the program that caused it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


# A change of the emitted text by a test of the harness: (text, form) -> text.
Mutation = Callable[[str, str], str]


def check(
    programs: Sequence[Program],
    toolchain: Toolchain,
    mutation: Mutation | None = None,
    runs: int = RUNS,
    forms: Sequence[str] = BACKENDS,
) -> list[Difference]:
    """The first difference of each program that has one."""
    sys.setrecursionlimit(20000)
    try:
        return _Batch(programs, toolchain, mutation, runs, forms).check()
    except ActorcFailedError as failed:
        if len(programs) == 1:
            return [_failure(programs[0], ACTORC_FAILED, failed.error)]
    middle = len(programs) // 2
    halves = programs[:middle], programs[middle:]
    return [found for half in halves for found in check(half, toolchain, mutation, runs, forms)]


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
    def __init__(
        self,
        programs: Sequence[Program],
        toolchain: Toolchain,
        mutation: Mutation | None,
        runs: int,
        forms: Sequence[str],
    ) -> None:
        self._programs = programs
        self._forms = forms
        self._runs = runs
        self._toolchain = toolchain
        self._mutation = mutation
        self._found: dict[int, Difference] = {}
        self._ranges: list[range] = []  # of each program's text in the file
        text = _HEAD
        for place, program in enumerate(programs):
            text += f"namespace p{place} {{\n"
            self._ranges.append(range(len(text), len(text) + len(program.text)))
            text += f"{program.text}\n{_registration(place, program)}}}\n\n"
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
        texts = {form: self._migrated(form) if target_of(form) else self._emitted(file, form) for form in self._forms}
        if self._found:
            return self._rest()
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            try:
                binary = self._build(self._write(texts, Path(name)), Path(name))
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
        """The faults of the programs without a fault so far, each tested alone."""
        rest = [program for place, program in enumerate(self._programs) if place not in self._found]
        others = check(rest, self._toolchain, self._mutation, self._runs, self._forms) if rest else []
        return [*self._found.values(), *others]

    # -----------------------------------------------------------------------------------------------------------

    # All before a compiler is started: an exception then costs little.

    def _emitted(self, file: File, backend: str) -> str:
        with _in_actorc():
            return emit(file, self._source, backend, f"{backend}.cpp")

    def _migrated(self, form: str) -> str:
        """Each program by itself, as all have actors of the same names."""
        text = _NAMESPACE
        for place, program in enumerate(self._programs):
            with _in_actorc():
                made = migrated(program.text, target_of(form))
            if made.why_not:
                self._note(place, NOT_MIGRATED, made.why_not)
            text += f'namespace p{place} {{\n#line 1 "{_MIGRATED_FILE.format(place)}"\n{made.text}\n'
            text += f"{_registration(place, program, form)}}}\n\n"
        return text + "}\n"

    def _write(self, texts: dict[str, str], folder: Path) -> list[Path]:
        paths = []
        for form, text in texts.items():
            path = folder / f"{form}.cpp"
            if self._mutation is not None:
                text = self._mutation(text, form)
            names = f'#define FUZZ_FORM "{form}"\n#define FUZZ_NAMESPACE {form.replace("-", "_")}\n'
            path.write_text(names + headers_of(form) + text, encoding="utf-8")
            paths.append(path)
        return paths

    def _build(self, sources: Sequence[Path], folder: Path) -> Path:
        shared = self._toolchain.prepare()
        objects = [self._toolchain.compile(shared, source) for source in sources]
        self._toolchain.link(shared, objects, folder / "programs")
        return folder / "programs"

    def _compile_errors(self, message: str) -> list[Difference]:
        """An error in a header belongs to the program that the message names first."""
        found = list(_ERROR.finditer(message)) or list(_POSITION.finditer(message))[:1]
        if not found:
            raise CompileError(message)
        for match in found:
            self._note(self._program_of(match), "does not compile", message[match.start() :][:4000])
        return self._rest()

    def _program_of(self, match: re.Match[str]) -> int:
        line, place = match.groups()
        if place is not None:
            return int(place)
        offset = sum(len(line) for line in self._source.text.splitlines(keepends=True)[: int(line)]) - 1
        return self._program_at(offset)

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
                others = {form: traces[place, seed, form] for form in self._forms}
                wrong = [each for each, other in others.items() if told_apart(other, each) != told_apart(trace, each)]
                if wrong:
                    kind = f"{' and '.join(wrong)} against the model"
                    difference = Difference(program, seed, kind, "", {MODEL: trace, **others})
                    self._found[place] = difference


def _registration(place: int, program: Program, form: str = "") -> str:
    root = f"[](Token const& token, int n) {{ return root({root_arguments(program.text, form)}); }}"
    return f"static Registration registration({place}, {program.start}, FUZZ_FORM, {root});\n"


def _execute(binary: Path, *arguments: int) -> tuple[str, str]:
    """The output of the programs, and a description of a crash."""
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
