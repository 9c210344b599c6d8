"""`actorc migrate --verify`: compiles and runs what is migrated before and after, in a copy, and compares.

It compiles every source that changes. It runs the files with a `main` that need only flow; the actors of files without
one, if their inputs can be made up (driver.inl); and the commands that the user gives.
"""

from __future__ import annotations

import difflib
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from actorc.diagnostics import Diagnostics
from actorc.driver import Rejected, analyse, emitted
from actorc.records import dataclass, field
from actorc.source import Source
from actorc_frames.compile import CannotCompile
from actorc_frames.debug_info import NoDebugInfo, units
from actorc_frames.found import layouts_of
from actorc_migrate.results import FileResult, FrameSizes, Result, Status
from actorc_migrate.verify.build import Builder, temporary_folder
from actorc_migrate.verify.drive import Driven, defined_in, driven_in, has_main, not_driven_in, program
from actorc_migrate.verify.tree import Tree

SECONDS = 60  # for one program
_SHOWN = 40  # lines of a difference
_SHOWN_OF_FAILED = 5  # lines of a command's output that are kept, from its end
_SOURCES = (".cpp", ".cc", ".cxx")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program or a command printed, and its exit code."""

    output: str
    code: int
    is_over: bool = True  # false: it was killed at the time limit


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference, or something that could not be compared."""

    subject: str
    what: str
    text: str


@dataclass(slots=True)
class Verification:
    compiled: int = 0  # files, before and after
    programs: list[str] = field(default_factory=list)  # files that were run by themselves
    actors: list[str] = field(default_factory=list)  # that were called
    commands: int = 0
    uncalled: list[tuple[str, str]] = field(default_factory=list)  # actors that were not, and why
    findings: list[Finding] = field(default_factory=list)
    unverified: list[Finding] = field(default_factory=list)  # runs that prove nothing
    notes: list[str] = field(default_factory=list)  # what was not checked, and why
    frames: list[FrameSizes] = field(default_factory=list)

    @property
    def is_passed(self) -> bool:
        return not self.findings and not self.unverified


@dataclass(slots=True)
class _Phase:
    """The results for the tree before, or after. Files have their paths from before."""

    is_after: bool
    objects: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    traces: dict[str, Ran] = field(default_factory=dict)
    commands: list[Ran] = field(default_factory=list)
    blocks: dict[tuple[str, str], int] = field(default_factory=dict)  # of a function's frame, in bytes


def verify(result: Result, flags: Sequence[str] | None, commands: Sequence[str], jobs: int) -> Verification:
    with temporary_folder() as folder:
        return _Verifier(result, flags, commands, jobs, folder).verify()


class _Verifier:
    def __init__(
        self, result: Result, flags: Sequence[str] | None, commands: Sequence[str], jobs: int, folder: str
    ) -> None:
        self._result = result
        self._commands = commands
        self._jobs = jobs
        self._found = Verification()
        changed = [file for file in result.changed if not file.is_link]
        self._files = [file for file in changed if file.path.endswith(_SOURCES)]
        self._tree = Tree([file.path for file in result.files], folder)
        self._builder = Builder(self._tree, flags, folder, jobs)
        self._driven: dict[str, list[Driven]] = {}
        self._told: set[str] = set()  # files with a note that their actors are not called

    def verify(self) -> Verification:
        for file in self._files:
            if file.status is Status.MIGRATED and not has_main(file.source.text):
                self._driven[file.path] = driven_in(file.source)
        before = self._phase(is_after=False)
        self._find_uncalled()
        self._migrate()
        after = self._phase(is_after=True)
        self._compare(before, after)
        return self._found

    def _find_uncalled(self) -> None:
        for file in self._result.changed:
            if file.is_link or not file.outcomes:
                continue
            if file.path in self._driven:
                self._found.uncalled += not_driven_in(file.source)
            else:
                why = "in headers" if file.path.endswith(".h") else "in files that stay actor files"
                why = "in programs" if has_main(file.source.text) else why
                self._found.uncalled += [(name, why) for name in defined_in(file.source)]

    # One side -----------------------------------------------------------------------------------------------------

    def _phase(self, *, is_after: bool) -> _Phase:
        phase = _Phase(is_after)
        for command in self._commands:  # first: files made below are not part of the tree
            phase.commands.append(self._run_command(command))
        for file in self._result.files:
            path = self._path(file, phase)
            if path.endswith(".actor.h") and not file.is_link:
                self._emit(path, f"{path.removesuffix('.h')}.g.h")
        with ThreadPoolExecutor(self._jobs) as pool:
            list(pool.map(lambda file: self._compile(file, phase), self._files))
        for file in self._files:
            self._run(file, phase)
        self._tree.remove_made()
        return phase

    def _path(self, file: FileResult, phase: _Phase) -> str:
        """Where a file is in the copy."""
        return self._tree.copy_of(file.new_path if phase.is_after else file.path)

    def _emit(self, path: str, output: str) -> bool:
        """Puts what actorc makes of a file of the copy beside it."""
        source = Source.read(path)
        try:
            file = analyse(source, Diagnostics())
        except Rejected:
            return False
        self._tree.make(output, source.encode(emitted(file, source, "state-machine", output, nodiscard=False)))
        return True

    def _text(self, file: FileResult, phase: _Phase) -> tuple[str, bool]:
        """The path of what is compiled for a file, and whether actorc has made it."""
        path = self._path(file, phase)
        if not path.endswith(".actor.cpp"):
            return path, False
        output = f"{path.removesuffix('.cpp')}.g.cpp"
        return output, True

    def _compile(self, file: FileResult, phase: _Phase) -> None:
        text, is_emitted = self._text(file, phase)
        try:
            if is_emitted and not self._emit(self._path(file, phase), text):
                raise CannotCompile("actorc rejects it")
            phase.objects[file.path] = self._builder.compile(file.path, text, emitted=is_emitted)
        except CannotCompile as error:
            phase.errors[file.path] = str(error)
            return
        self._measure(file, phase)

    def _measure(self, file: FileResult, phase: _Phase) -> None:
        try:
            every = [
                layout
                for top in units(phase.objects[file.path])
                for layout in layouts_of(top, self._builder.compiler)
                if os.path.realpath(layout.file) == self._path(file, phase)
            ]
        except NoDebugInfo:
            return
        for layout in every:
            phase.blocks.setdefault((file.path, layout.function), layout.block)

    def _run(self, file: FileResult, phase: _Phase) -> None:
        if file.path not in phase.objects:
            return
        binary = None
        if has_main(file.source.text):
            binary = self._builder.link([phase.objects[file.path]], file.path)
        elif self._driven.get(file.path):
            binary = self._driver_of(file, phase)
        if binary is not None:
            phase.traces[file.path] = self._run_program([binary])

    def _driver_of(self, file: FileResult, phase: _Phase) -> str | None:
        included, is_emitted = self._text(file, phase)
        path = f"{included.removesuffix('.cpp')}.verify.cpp"
        settings = self._result.settings
        actors = self._driven[file.path]
        text = program(included, actors, is_migrated=phase.is_after, is_foundationdb=settings.is_foundationdb)
        self._tree.make(path, text.encode("utf-8", "surrogateescape"))
        try:
            return self._builder.link([self._builder.compile(file.path, path, emitted=is_emitted)], file.path)
        except CannotCompile as error:
            if file.path not in self._told:
                self._found.notes.append(f"{file.path}: its actors are not called: {str(error).splitlines()[0]}")
                self._told.add(file.path)
            return None

    def _run_program(self, command: Sequence[str]) -> Ran:
        try:
            done = subprocess.run(
                command, cwd=self._tree.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
            return Ran(f"{output}no end within {SECONDS} s\n", 124, is_over=False)
        return Ran(done.stdout, done.returncode)

    def _run_command(self, command: str) -> Ran:
        place = self._tree.place
        done = subprocess.run(
            command.replace("{tree}", place), shell=True, cwd=place, env={**os.environ, "ACTORC_TREE": place},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Ran(done.stdout, done.returncode)

    def _migrate(self) -> None:
        """Applies the migration to the copy."""
        for file in self._result.files:
            old = self._tree.copy_of(file.path)
            if file.is_changed and file.is_link:
                self._tree.relink(file.path, file.new_path, file.text)
            elif file.is_changed:
                self._tree.write(self._tree.copy_of(file.new_path), file.source.encode(file.text))
                if file.new_path != file.path:
                    os.unlink(old)

    # Both sides ---------------------------------------------------------------------------------------------------

    def _compare(self, before: _Phase, after: _Phase) -> None:
        found = self._found
        for file in self._files:
            path = file.path
            if path in before.errors:
                found.findings.append(Finding(path, "does not compile as it is", before.errors[path]))
            elif path in after.errors:
                found.findings.append(Finding(path, "does not compile when it is migrated", after.errors[path]))
            else:
                found.compiled += 1
                self._compare_traces(file, before, after)
        for command, old, new in zip(self._commands, before.commands, after.commands, strict=True):
            found.commands += 1
            if old != new:
                found.findings.append(Finding(command, _what(old, new), _difference(old, new)))
            elif old.code:
                what = f"ends with exit code {old.code} before and after: a test that fails is no evidence"
                found.unverified.append(Finding(command, what, "\n".join(old.output.splitlines()[-_SHOWN_OF_FAILED:])))
        for (path, function), block in sorted(before.blocks.items()):
            if (path, function) in after.blocks:
                sizes = FrameSizes(function, self._builder.compiler, block, after.blocks[path, function])
                found.frames.append(sizes)

    def _compare_traces(self, file: FileResult, before: _Phase, after: _Phase) -> None:
        old, new = before.traces.get(file.path), after.traces.get(file.path)
        if old is None or new is None:
            if has_main(file.source.text):
                self._found.notes.append(f"{file.path} is not run: it needs more than flow")
            self._leave_uncalled(file, "in files with a driver that cannot be built")
            return
        if not old.is_over and not new.is_over:
            what = f"does not end within {SECONDS} s, before and after: it is no evidence"
            self._found.unverified.append(Finding(file.path, what, ""))
            self._leave_uncalled(file, "in files with a driver that does not end")
            return
        if has_main(file.source.text):
            self._found.programs.append(file.path)
        else:
            self._found.actors += [actor.name.removeprefix("::") for actor in self._driven[file.path]]
        if old != new:
            self._found.findings.append(Finding(file.path, _what(old, new), _difference(old, new)))

    def _leave_uncalled(self, file: FileResult, why: str) -> None:
        names = (actor.name.removeprefix("::") for actor in self._driven.get(file.path, ()))
        self._found.uncalled += [(name, why) for name in names]


def _what(old: Ran, new: Ran) -> str:
    if old.code != new.code:
        return f"ends with exit code {old.code} before and {new.code} after"
    return "prints something else"


def _difference(old: Ran, new: Ran) -> str:
    """The first lines that differ; of actors that were called, with the call."""
    before, after = old.output.splitlines(), new.output.splitlines()
    pairs = enumerate(zip(before, after, strict=False))
    place = next((index for index, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = next((index for index in range(min(place, len(before) - 1), -1, -1) if before[index][:2] == "# "), None)
    first = max(0, place - 5) if start is None else start
    diff = difflib.unified_diff(
        _block(before, first, start), _block(after, first, start), "before", "after", lineterm="", n=_SHOWN
    )
    return "\n".join(list(diff)[:_SHOWN])


def _block(lines: Sequence[str], first: int, start: int | None) -> Sequence[str]:
    if start is None:
        return lines[first : first + _SHOWN]
    end = next((index for index in range(start + 1, len(lines)) if lines[index][:2] == "# "), len(lines))
    return lines[start:end]


def as_text(found: Verification) -> str:
    lines = [f"verified: {found.compiled} {_s('file', found.compiled)} compile before and after"]
    if found.programs:
        count = len(found.programs)
        lines.append(f"    {count} {_s('program', count)} run by {'itself' if count == 1 else 'themselves'}")
    if found.actors:
        lines.append(f"    {len(found.actors)} {_s('actor', len(found.actors))} called, and cancelled after every step")
    if found.uncalled:
        why = ", ".join(f"{count} {why}" for why, count in Counter(why for _, why in found.uncalled).most_common())
        lines.append(f"    {len(found.uncalled)} {_s('actor', len(found.uncalled))} not called: {why}")
    if found.commands:
        lines.append(f"    {found.commands} {_s('command', found.commands)} run before and after")
    lines += [f"    note: {each}" for each in found.notes]
    for each in [*found.findings, *found.unverified]:
        lines += [f"{each.subject}: {each.what}", *(f"    {line}" for line in each.text.splitlines())]
    count, open_ = len(found.findings), len(found.unverified)
    has_run = found.programs or found.actors or found.commands
    nothing = (
        "no difference" if has_run else "nothing was run: that they compile is all that is known (--test runs a test)"
    )
    lines.append(f"{count} {_s('difference', count)}" if count else nothing)
    if open_:
        lines[-1] += f", and {open_} {_s('run', open_)} that proved nothing"
    return "".join(f"{line}\n" for line in lines)


def _s(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
