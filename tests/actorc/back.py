"""What the tests of the back ends share: emitted text, and which source line each of its lines belongs to."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from front import sound

from actorc.emit.emit import emit
from common.precompiled import precompiled

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "programs").glob("*.actor.cpp"))
BACKENDS = ("state-machine", "coroutine")
COMPILERS = [name for name in ("g++", "clang++-19") if shutil.which(name)]

_LINE = re.compile(r'#line (\d+)(?: "|$)')


def emitted(text: str, backend: str = "state-machine", output: str = "out.g.cpp") -> str:
    file, source = sound(text)
    return emit(file, source, backend, output)


def placed(output: str) -> list[tuple[int, str]]:
    """Each line with the number that the C++ compiler gives it."""
    found = []
    number = 1
    for line in output.split("\n"):
        directive = _LINE.match(line.lstrip())
        if directive:
            number = int(directive[1])
        else:
            found.append((number, line))
            number += 1
    return found


def one_blank(text: str) -> str:
    """Without what puts expressions in their columns, and without the comments with what is returned."""
    text = re.sub(r" // return .*", "", text)
    text = " ".join(re.sub(r'\n#line \d+(?: "[^"]*")?(?=\n)', " ", text).split())
    return text.replace("( ", "(").replace("template < ", "template <")


def syntax_errors(output: str, compiler: str, folder: Path, *more: str) -> str:
    """What a compiler says of emitted text, with the flags of our own code."""
    path = folder / "out.g.cpp"
    path.write_text(output, encoding="utf-8")
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    options = precompiled(*command)
    command += [*options, *more, "-DNO_INTELLISENSE", "-I", str(ROOT), "-iquote", str(ROOT / "tests" / "programs")]
    command += ["-fsyntax-only", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
