"""Compiles files of a tree, and links those that need only flow."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from actorc_frames.compile import (
    DEBUG,
    DESCRIBE_FRAMES,
    CannotCompile,
    Unit,
    compilers,
    first_error,
    flags_of,
    own_headers,
)
from actorc_migrate.verify.tree import Tree

# Folders of flow/ that are libraries of their own, since they need Boost and oneTBB.
_OTHER_LIBRARIES = ("fiber", "parallel")
_OF_THE_RUNTIME = ("-D", "-std=", "-m", "-f", "-stdlib=")
_KEPT_RUNTIMES = 5  # a few megabytes each


class Builder:
    """`flags`: what the user gave after `--`; None: those of a compile_commands.json. Objects go to `folder`."""

    def __init__(self, tree: Tree, flags: Sequence[str] | None, folder: str, jobs: int) -> None:
        found = compilers()
        if not found:
            raise CannotCompile("no C++ compiler is installed: clang++-19 or g++ is needed")
        self.compiler = found[0]
        self.jobs = jobs
        self._tree = tree
        self._given = flags
        self._folder = folder
        self._runtime: list[str] | None = None

    def compile(self, source: str, text: str, *, emitted: bool) -> str:
        """The object of `text`, which is in the copy, with the flags for `source`, which is not. Raises CannotCompile
        with the first error."""
        unit = Unit(source, text, None, self.compiler)
        flags, directory, origin = flags_of(unit, self._given)
        output = os.path.join(self._folder, f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.o")
        command = [self.compiler, *self._tree.flags(flags, directory), *DEBUG]
        if "clang" in self.compiler:
            command += DESCRIBE_FRAMES
        if emitted:
            command += ["-DNO_INTELLISENSE"]
        command += ["-iquote", os.path.dirname(self._tree.copy_of(source)), "-c", text, "-o", output]
        run = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace", check=False)
        if run.returncode:
            shown = first_error(run.stderr, unit, origin, "actorc migrate --verify")
            raise CannotCompile(shown.replace(os.path.join(self._tree.place, ""), ""))
        return output

    def link(self, objects: Sequence[str], source: str) -> str | None:
        """The program; None if these objects need more than flow."""
        runtime = self._runtime_for(source)
        if runtime is None:
            return None
        output = objects[0].removesuffix(".o")
        linker = ["-fuse-ld=lld"] if "clang" in self.compiler else []
        for options in (linker, []):
            command = [self.compiler, *options, *objects, *runtime, "-pthread", "-o", output]
            if not subprocess.run(command, capture_output=True, check=False).returncode:
                return output
        return None

    def _runtime_for(self, source: str) -> list[str] | None:
        """The runtime, compiled as the source is. It is kept for the next time."""
        if self._runtime is None:
            self._runtime = self._made_runtime(source)
        return self._runtime or None

    def _made_runtime(self, source: str) -> list[str]:
        root = own_headers()
        if root is None:
            return []
        files = sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(os.path.join(root, "flow"))
            for name in names
            if name.endswith(".cpp")
            and not name.endswith("main.cpp")
            and os.path.basename(folder) not in _OTHER_LIBRARIES
        )
        if not files:  # installed
            library = os.path.normpath(os.path.join(root, "..", "..", "lib", "libmillrace_flow.a"))
            return [library] if os.path.exists(library) else []
        flags, _, _ = flags_of(Unit(source, source, None, self.compiler), self._given)
        kept = [flag for flag in flags if flag.startswith(_OF_THE_RUNTIME)]
        command = [self.compiler, *kept, "-O1", "-w", "-I", root]
        folder = os.path.join(_cache(), f"flow-{_digest(root, command)}")
        os.makedirs(folder, exist_ok=True)
        os.utime(folder)
        _forget_runtimes()

        def made(file: str) -> str:
            output = os.path.join(folder, os.path.relpath(file, root).replace(os.sep, "_") + ".o")
            if not os.path.exists(output):
                temporary = f"{output}.{os.getpid()}"
                run = subprocess.run([*command, "-c", file, "-o", temporary], capture_output=True, check=False)
                if run.returncode:
                    errors = run.stderr.decode(errors="replace")
                    raise CannotCompile(f"flow does not compile with these flags: {errors}")
                os.replace(temporary, output)
            return output

        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(made, files))


def _cache() -> str:
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "actorc")


def _forget_runtimes() -> None:
    """But for those that were used last."""
    with suppress(FileNotFoundError):  # another run removes them, too
        by_use = sorted(Path(_cache()).glob("flow-*"), key=lambda folder: folder.stat().st_mtime_ns)
        for folder in by_use[:-_KEPT_RUNTIMES]:
            shutil.rmtree(folder)


def _digest(root: str, command: Sequence[str]) -> str:
    digest = hashlib.sha256(repr(command).encode())
    for folder, _, names in sorted(os.walk(os.path.join(root, "flow"))):
        for name in sorted(names):
            if name.endswith((".h", ".cpp")):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()[:16]


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="actorc-verify-", ignore_cleanup_errors=True)
