#!/usr/bin/env python3
"""Checks the rules that no compiler or formatter checks: layers, sizes, headers and their tests, determinism.

Prints `path:line: message` for each breach and exits with 1 if there is any. Needs only the standard library.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mutantslib.catalogue import MUTANTS
from mutantslib.mutant import Mutant, wrong_count
from tidylib.compiled import Compiled, Unit
from tidylib.conditional_awaits import conditional_awaits
from tidylib.imports import imported
from tidylib.nondeterminism import sources_of_nondeterminism
from tidylib.walkers import node_kinds, passed_over

ROOT = Path(__file__).resolve().parents[1]

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 70
MIN_TESTED = 0.9
# Our headers cause no warning in a program that is compiled with these.
USERS_WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Wpedantic")
GCC = "g++"
UMBRELLA = "flow/flow.h"  # what most headers for other vocabularies begin with
# Only actor files, examples, code of pages and headers for other vocabularies include them. Everything else includes
# what it uses, so that an edit of one header does not compile all of it again.
UMBRELLAS = {UMBRELLA, "flow/sim.h"}
INCLUDE_UMBRELLAS = ("net/examples/", "tests/examples/", "tests/sim/tutorial/", "flow/compat/", "net/compat/")
TESTS_UMBRELLA = "tests/flow/flow_test.cpp"

TOP_FILES = {"CMakeLists.txt", "CMakePresets.json", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"}
LOCAL_FILES = {"CMakeUserPresets.json", "compile_commands.json"}  # of a developer
FOLDERS = ("flow", "net", "bench", "tests", "tools", "actorc")
SUFFIXES = {".h", ".cpp", ".py", ".cmake"}
SKIPPED_FOLDERS = {"build", "__pycache__", "golden", ".pytest_cache", "actorc.egg-info"}

# A layer may include itself and the layers of a smaller rank, not others of the same rank.
RANKS = {
    "flow/diag": 0,
    "flow/base": 1,
    "flow/memory": 2,
    "flow/core": 3,
    "flow/loop": 4,
    "flow/wait": 5,
    "flow/emitted": 5,
    "flow/actor": 6,
    "flow/coro": 6,
    "flow/threads": 6,
    "flow/trace": 6,
    "flow/combine": 7,
    "flow/fiber": 7,  # beside the other styles, but its pool uses threads
    "flow/sync": 8,
    "flow/tasks": 9,
    "flow/file": 10,
    "flow/parallel": 10,
    "flow/inspect": 7,
    "flow/sim": 11,
    "net/sim": 12,
    "net": 11,
    "flow/testing": 12,
}
# The core, what runs it and the styles share what is in namespace detail. All else, and whatever is written elsewhere,
# uses their public names.
SHARE_DETAIL = {
    "flow/base",
    "flow/memory",
    "flow/core",
    "flow/loop",
    "flow/wait",
    "flow/emitted",
    "flow/actor",
    "flow/coro",
    "flow/fiber",
    "flow/inspect",
    "flow/combine/forward.h",  # this and the next ones pass exceptions on that are no Error
    "flow/combine/retry.h",
    "flow/sim/schedule_explorer.cpp",
    "flow/threads/on_loop.h",
    "flow/threads/thread_pool.h",
    "flow/combine/quorum.cpp",
    "flow/combine/quorum.h",
    "flow/combine/race.h",
    "flow/sync/channel.h",
    "flow/tasks",
    "bench/net/mock_stream.h",  # measures what is left when nothing but the waiter is moved
}
# Production must build without these, so only umbrella headers, the test runner, these folders and code outside flow/
# include them.
SIMULATIONS = {"flow/sim", "net/sim"}
SIMULATE = {"flow/testing", "net/sim"}
# Every actor file includes these, in whatever layer it is.
ACTOR_KEYWORDS = {"flow/actorcompiler.h", "flow/unactorcompiler.h"}

# The stages that each stage of actorc may import, besides shared modules: none imports a later stage, and the emitters
# get the tree, never the tokens.
STAGES: dict[str, set[str]] = {
    "parse": set(),
    "check": set(),
    "lower": {"check"},
    "emit": {"lower", "check"},
    "report": set(),
}
SHARED = {"syntax", "source", "words", "spelling", "diagnostics", "records", "repairs"}
# The modules that the packages beside the compiler may import from it and from each other. The compiler imports none of
# them; only its command line does, when a run needs one.
BESIDE: dict[str, set[str]] = {
    "actorc": set(),
    "actorc_check": {
        *("actorc.check.kept", "actorc.check.lifetimes", "actorc.check.reach"),
        "actorc.emit.signature",
        *(f"actorc.{name}" for name in ("diagnostics", "driver", "options", "packages", "records", "source", "syntax")),
        *("actorc.report.failure", "actorc.report.report", "actorc_frames.compile"),
    },
    "actorc_frames": {"actorc.diagnostics", "actorc.driver", "actorc.packages", "actorc.source"},
    "actorc_lsp": {
        *(f"actorc.{name}" for name in ("__version__", "diagnostics", "options", "packages", "source", "syntax")),
        *("actorc.check.kept", "actorc.report.explain", "actorc_frames.compile"),
        *("actorc_check.actors", "actorc_check.command"),
    },
    "actorc_migrate": {
        *(f"actorc.{name}" for name in SHARED),
        *("actorc.__version__", "actorc.driver", "actorc.options", "actorc.outputs", "actorc.packages", "actorc.run"),
        *("actorc.parse.brackets", "actorc.parse.lexer", "actorc.parse.parameters"),
        *("actorc.check.captures", "actorc.check.facts", "actorc.check.forward", "actorc.check.handlers"),
        *(
            "actorc.check.reach",
            "actorc.check.sections",
            "actorc.emit.captures",
            "actorc.emit.declaration",
            "actorc.emit.description",
            "actorc.emit.signature",
            "actorc.lower.lower",
        ),
        *("actorc.report.failure", "actorc.report.formats", "actorc.report.report"),
        *("actorc_frames.compile", "actorc_frames.debug_info", "actorc_frames.found", "actorc_frames.tables"),
    },
}
# The kinds of nodes: of the tree that the parser makes, and of what it is lowered to. A pass over a tree raises for a
# kind without a rule, so that a new kind is not ignored silently.
TREES = ("actorc/actorc/syntax.py", "actorc/actorc/lower/lowered.py")
WALKERS = ("actorc/", "tests/model/")
COMMAND_LINE = "actorc/actorc/__main__.py"
CATALOGUE = "tools/mutantslib/catalogue.py"

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
_DIRECTIVE = re.compile(r"^\s*#(?!\s*pragma once)")
_DETAIL = re.compile(r"\bdetail::|\bnamespace\s+(?:\w+::)*detail\b")
_STAGE_FILE = re.compile(r"actorc/actorc/(\w+)(?:/\w+)?\.py")
_PACKAGE_FILE = re.compile(r"actorc/(actorc\w*)/.*\.py")
_TOOL_FOLDER = re.compile(r"tools/(\w+)/")
_SCOPE = re.compile(r'(template\b.*>\s*)?(requires\b.*\s)?(inline\s+)?(namespace|class|struct|union|enum|extern\s*")')


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(slots=True)
class File:
    path: str
    lines: list[str]

    @property
    def is_header(self) -> bool:
        return self.path.endswith(".h")

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith((".h", ".cpp"))

    @property
    def layer(self) -> str | None:
        """The layer that the file belongs to; None for umbrella headers, examples, and all outside flow/ and net/."""
        if self.path.startswith(("net/examples/", "net/compat/")):
            return None
        return next((layer for layer in RANKS if self.path.startswith(layer + "/")), None)


@dataclass
class Tree:
    root: Path
    files: dict[str, File] = field(default_factory=dict)

    @staticmethod
    def read(root: Path) -> Tree:
        tree = Tree(root)
        for top in FOLDERS:
            for folder, folders, names in os.walk(root / top):
                folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
                for name in sorted(names):
                    path = Path(folder, name)
                    if path.suffix in SUFFIXES or name == "CMakeLists.txt":
                        relative = path.relative_to(root).as_posix()
                        tree.files[relative] = File(relative, path.read_text(encoding="utf-8").splitlines())
        return tree

    @cached_property
    def includes(self) -> list[tuple[File, int, str]]:
        """(file, line, path of what it includes, from the root) for each include of a file of ours."""
        result = []
        for file in self.files.values():
            for number, line in enumerate(file.lines, 1):
                if match := _INCLUDE.match(line):
                    beside = os.path.normpath(f"{os.path.dirname(file.path)}/{match[2]}")
                    target = beside if match[1] == '"' and beside in self.files else match[2]
                    result.append((file, number, target))
        return result


def check_top_level(tree: Tree) -> Iterator[Finding]:
    for path in tree.root.iterdir():
        if path.is_file() and not path.name.startswith(".") and path.name not in TOP_FILES | LOCAL_FILES:
            yield Finding(path.name, 1, "does not belong at the top level")


def check_layers(tree: Tree) -> Iterator[Finding]:
    for file, line, target in tree.includes:
        if not file.is_cpp or file.layer is None or not target.startswith(("flow/", "net/")):
            continue
        there = File(target, []).layer
        if there is None:
            if not (target in ACTOR_KEYWORDS and ".actor." in file.path):
                yield Finding(file.path, line, f"a file of {file.layer} includes the umbrella header {target}")
        elif there != file.layer and (
            RANKS[there] >= RANKS[file.layer] or (there in SIMULATIONS and file.layer not in SIMULATE)
        ):
            yield Finding(file.path, line, f"layer {file.layer} must not include {target}")


def check_umbrellas(tree: Tree) -> Iterator[Finding]:
    """Umbrella headers may include all of flow/, but flow/ must build without net/."""
    for file, line, target in tree.includes:
        if not file.is_cpp or file.layer is not None:  # what check_layers says
            continue
        if file.path.startswith("flow/") and target.startswith("net/"):
            yield Finding(file.path, line, f"flow/ must not include {target}")
        if target not in UMBRELLAS or ".actor." in file.path or file.path.startswith(INCLUDE_UMBRELLAS):
            continue
        if file.path not in (*UMBRELLAS, TESTS_UMBRELLA):
            yield Finding(file.path, line, f"includes the umbrella header {target}: include what the file uses")


def check_detail(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if not file.is_cpp or not file.path.startswith(("flow/", "net/", "bench/")):
            continue
        if file.layer in SHARE_DETAIL or file.path in SHARE_DETAIL:
            continue
        for number, line in enumerate(file.lines, 1):
            own = file.path.startswith("net/http/") and "flow::detail::" not in line  # http has a namespace of its own
            if not own and _DETAIL.search(line):
                where = file.layer or "a file outside the layers"
                yield Finding(file.path, number, f"{where} must not name what is in detail: it has public names to use")


def check_file_sizes(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if len(file.lines) > MAX_FILE_LINES:
            yield Finding(file.path, 1, f"{len(file.lines)} lines, at most {MAX_FILE_LINES} are allowed")


def check_function_sizes(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if file.is_cpp:
            functions = cpp_functions(file.lines)
        elif file.path.endswith(".py"):
            functions = python_functions(file)
        else:
            continue
        for first, last in functions:
            if last - first + 1 > MAX_FUNCTION_LINES:
                message = f"a function of {last - first + 1} lines, at most {MAX_FUNCTION_LINES} are allowed"
                yield Finding(file.path, first, message)


def python_functions(file: File) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse("\n".join(file.lines), file.path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.end_lineno or node.lineno


def cpp_functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """(first line, last line) of each function outside functions.

    Relies on the layout of clang-format: the closing brace of a function has the indentation of its first line.
    """
    number = 0
    while number < len(lines):
        if not _ends_with_brace(lines[number]):
            number += 1
            continue
        first = _start_of_declaration(lines, number)
        head = " ".join(line.strip() for line in lines[first : number + 1])
        if _SCOPE.match(head) or "(" not in head:
            number += 1
            continue
        depth = len(lines[first]) - len(lines[first].lstrip())
        end = re.compile(rf" {{{depth}}}}}")
        last = next((i for i in range(number + 1, len(lines)) if end.match(lines[i])), len(lines) - 1)
        yield first + 1, last + 1
        number = last + 1


def _ends_with_brace(line: str) -> bool:
    return line.split("//")[0].rstrip().endswith("{")


def _start_of_declaration(lines: list[str], number: int) -> int:
    while number > 0:
        before = lines[number - 1].split("//")[0].strip()
        if not before or before.startswith("#") or before.endswith((";", "{", "}", ":", "*/")):
            break
        number -= 1
    return number


def check_headers_have_tests(tree: Tree) -> Iterator[Finding]:
    headers = [
        file.path for file in tree.files.values() if file.is_header and file.layer and "/detail/" not in file.path
    ]
    untested = [path for path in headers if not any(test in tree.files for test in tests_of(path))]
    if len(headers) - len(untested) < MIN_TESTED * len(headers):
        tested = (len(headers) - len(untested)) / len(headers)
        for path in untested:
            message = (
                f"no {tests_of(path)[0]}, and only {tested:.0%} of the headers have a test ({MIN_TESTED:.0%} must)"
            )
            yield Finding(path, 1, message)


def tests_of(header: str) -> list[str]:
    stem = f"tests/{header.removesuffix('.h').removesuffix('.actor')}"
    return [f"{stem}_test.cpp", f"{stem}.actor.cpp", f"{stem}_test.actor.cpp"]


def check_headers_say_what_they_are(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if file.is_header and file.path.startswith(("flow/", "net/")):
            text = (line.strip() for line in file.lines)
            first = next((line for line in text if line and not line.startswith("#")), "")
            if not first.startswith(("//", "/*")):
                yield Finding(file.path, 1, "a header opens with a comment that says what it is for")


def check_dead_headers(tree: Tree) -> Iterator[Finding]:
    # The compiler's Python and templates count: they emit includes. So do headers that CMake precompiles.
    used = {target for _, _, target in tree.includes}
    # The include paths of users of these headers, and of a foreign project.
    roots = ("flow/compat/", "net/compat/", "tests/install/headers/include/")
    used |= {root + target for root in roots for target in used}
    for file in tree.files.values():
        if file.path.startswith("actorc/"):
            used.update(re.findall(r'#\s*include\s*\\?["<]([^">\\]+)', "\n".join(file.lines)))
        if file.path.endswith("CMakeLists.txt"):
            used.update(re.findall(r"PROJECT_SOURCE_DIR\}/([\w/]+\.h)", "\n".join(file.lines)))
    for file in tree.files.values():
        if file.is_header and file.path not in used and not any(test in tree.files for test in tests_of(file.path)):
            yield Finding(file.path, 1, "nothing includes this header")


def check_stages(tree: Tree) -> Iterator[Finding]:
    for path, file in tree.files.items():
        match = _STAGE_FILE.fullmatch(path)
        if match is None or match[1] not in SHARED | STAGES.keys():
            continue
        allowed = SHARED | STAGES.get(match[1], set()) | ({match[1]} & STAGES.keys())
        for line, name in imported(path, "\n".join(file.lines)):
            package, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if package == "actorc" and other not in allowed and not other.startswith("__"):
                yield Finding(path, line, f"{match[1]} must not import {other}")


def check_packages(tree: Tree) -> Iterator[Finding]:
    for path, file in tree.files.items():
        match = _PACKAGE_FILE.fullmatch(path)
        if match is None or path == COMMAND_LINE:
            continue
        for line, name in imported(path, "\n".join(file.lines)):
            package = name.partition(".")[0]
            if package not in BESIDE or package == match[1]:
                continue
            if not any(f"{name}.".startswith(f"{module}.") for module in BESIDE[match[1]]):
                yield Finding(path, line, f"{match[1]} must not import {name}")


def check_walkers(tree: Tree) -> Iterator[Finding]:
    kinds = node_kinds("\n".join(tree.files[path].lines) for path in TREES if path in tree.files)
    for path, file in tree.files.items():
        if path.startswith(WALKERS) and path.endswith(".py"):
            for line in passed_over("\n".join(file.lines), kinds):
                message = "the last case must be `case _`, and raise or hand the node on: a kind may be new"
                yield Finding(path, line, message)


def check_tools(tree: Tree) -> Iterator[Finding]:
    """See CONTRIBUTING.md, under "Tools"."""
    for path in tree.files:
        match = _TOOL_FOLDER.match(path)
        if match is None or match[1] in ("common", "millrace"):
            continue
        if not match[1].endswith("lib") or f"tools/{match[1].removesuffix('lib')}.py" not in tree.files:
            yield Finding(path, 1, f"tools/{match[1]}/ is named after no program: of tools/x.py it is tools/xlib/")


def check_mutants(tree: Tree, mutants: Iterable[Mutant] = MUTANTS) -> Iterator[Finding]:
    """tools/mutants must find their places again after each change of the sources."""
    if CATALOGUE not in tree.files:
        return
    for mutant in mutants:
        file = tree.files.get(mutant.file)
        if wrong := wrong_count(mutant, "\n".join(file.lines) if file else ""):
            yield Finding(mutant.file, 1, f"{wrong} (see tools/mutantslib)")


def check_nondeterminism(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if file.is_cpp and file.path.startswith(("flow/", "net/")):
            for line, message in sources_of_nondeterminism(file.lines):
                yield Finding(file.path, line, message)


def check_conditional_awaits(tree: Tree) -> Iterator[Finding]:
    for file in tree.files.values():
        if file.is_cpp and file.path.startswith(("flow/", "net/")):
            for line in conditional_awaits(file.lines):
                yield Finding(file.path, line, "gcc 12 evaluates both branches in a co_await: choose before it")


def check_headers_compile(tree: Tree) -> Iterator[Finding]:
    headers = [file.path for file in tree.files.values() if file.is_header and file.path.startswith(("flow/", "net/"))]
    everything = tuple(sorted((path for path in headers if not is_for_one_compiler(path)), key=defines_keywords))
    together: list[Unit] = [(GCC, everything), ("clang++-19", everything)]
    alone: list[Unit] = [(its_compiler(path), (path,)) for path in not_begun_with(tree, headers)]
    texts = {path: "\n".join(file.lines) for path, file in tree.files.items() if file.is_cpp}
    includes = [(file.path, target) for file, _, target in tree.includes if file.is_cpp]
    compiled = Compiled(tree.root / "build" / "headers.json", USERS_WARNINGS, texts, includes)
    changed = [unit for unit in (*together, *alone) if not compiled.has(unit)]
    begins = {unit for unit in changed if unit in alone and begins_with(tree, unit[1][0], UMBRELLA)}
    with ThreadPoolExecutor(os.cpu_count()) as pool, tempfile.TemporaryDirectory() as folder:
        umbrella = precompiled(tree.root, UMBRELLA, Path(folder)) if begins else ()

        def compile_it(unit: Unit) -> str:
            compiler, paths = unit
            return compile_headers(tree.root, compiler, paths, umbrella if compiler == GCC and unit in begins else ())

        outputs = dict(zip(changed, pool.map(compile_it, changed), strict=True))
    compiled.add(unit for unit, output in outputs.items() if not output)
    for unit, output in outputs.items():
        if output and unit in alone:
            yield Finding(unit[1][0], 1, f"does not compile alone:\n{output}")
        elif output and not any(outputs.get(each) for each in alone):  # otherwise it would print the same again
            yield Finding("flow/flow.h", 1, f"{unit[0]} does not compile all headers together:\n{output}")


def not_begun_with(tree: Tree, headers: list[str]) -> list[str]:
    """Headers that are to be compiled alone, so that all are: a file compiles alone what it includes first, and what
    that includes first. The build with gcc does so with the libraries' sources."""
    begun: set[str] = set()

    def follow(path: str) -> None:
        while path in tree.files and path not in begun:
            begun.add(path)
            path = first_include(tree, path)

    for path in tree.files:
        if path.endswith(".cpp") and path.startswith(("flow/", "net/")) and not path.startswith("net/examples/"):
            follow(first_include(tree, path))
    inside = {first_include(tree, path) for path in headers}
    single = []
    for path in sorted(headers, key=lambda path: path in inside):
        if path not in begun:
            single.append(path)
            follow(path)
    return single


def first_include(tree: Tree, path: str) -> str:
    """The file of ours that a file begins with, but for `#pragma once`; nothing if it begins otherwise."""
    directives = (line for line in tree.files[path].lines if _DIRECTIVE.match(line))
    match = _INCLUDE.match(next(directives, ""))
    if match is None:
        return ""
    beside = os.path.normpath(f"{os.path.dirname(path)}/{match[2]}")
    return beside if match[1] == '"' and beside in tree.files else match[2]


def begins_with(tree: Tree, path: str, header: str) -> bool:
    """Whether the file includes the header before all else, itself or by what it includes first."""
    seen = set()
    while path in tree.files and path not in seen and path != header:
        seen.add(path)
        path = first_include(tree, path)
    return path == header


def precompiled(root: Path, header: str, folder: Path) -> tuple[str, ...]:
    """Options of gcc for files that begin with this header: so it is read once for all of them."""
    place = folder / "precompiled.h"
    place.write_text(f'#include "{header}"\n', encoding="utf-8")
    command = [GCC, "-std=c++20", *USERS_WARNINGS, "-I.", "-xc++-header", str(place), "-o", f"{place}.gch"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return ("-include", str(place)) if done.returncode == 0 else ()  # otherwise each file shows the error


def its_compiler(header: str) -> str:
    return "clang++-19" if header.endswith("_clang.h") else GCC  # which takes less time


def is_for_one_compiler(header: str) -> bool:
    """Whether another header defines the same names for another compiler: a file includes only one of them."""
    return header.startswith("flow/coro/abi_")


def defines_keywords(header: str) -> bool:
    """Whether this header leaves `state` and `loop` defined as macros for the includes after it."""
    return header.endswith(("/actorcompiler.h", "/keywords.h"))


def compile_headers(root: Path, compiler: str, paths: Iterable[str], options: Iterable[str] = ()) -> str:
    """The compiler's errors for a file that includes only these headers."""
    # Through standard input: naming the header itself would warn about its `#pragma once`.
    command = [compiler, "-std=c++20", "-fsyntax-only", *USERS_WARNINGS, "-Werror", "-I.", *options, "-xc++", "-"]
    includes = "".join(f'#include "{path}"\n' for path in paths)
    run = subprocess.run(command, cwd=root, input=includes, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


CHECKS: tuple[Callable[[Tree], Iterator[Finding]], ...] = (
    check_top_level,
    check_layers,
    check_umbrellas,
    check_detail,
    check_file_sizes,
    check_function_sizes,
    check_headers_have_tests,
    check_headers_say_what_they_are,
    check_dead_headers,
    check_stages,
    check_packages,
    check_walkers,
    check_tools,
    check_mutants,
    check_nondeterminism,
    check_conditional_awaits,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/tidy.py", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--headers", action="store_true", help="check instead that each header compiles alone, since it last did"
    )
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[1], help="default: this repository"
    )
    options = parser.parse_args()
    tree = Tree.read(options.root)
    checks = (check_headers_compile,) if options.headers else CHECKS
    findings = sorted(finding for check in checks for finding in check(tree))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
