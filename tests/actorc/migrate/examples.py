"""Documents with examples of what `actorc migrate` does: its guide, its codes, and constructs.md for all constructs.

    tests/actorc/migrate/examples.py --write    puts in what the tool makes today; then read the difference

A code block says behind its language what it is:

- `cpp prelude`: what the examples below use;
- `cpp before`: the actors of an example;
- `cpp exact`, `cpp idiomatic`: what they become, with `foundationdb` behind it for that target;
- `text exact`, `text idiomatic`: what the tool says of them;
- `file=PATH`: a file of the tree in which the commands of the `console` blocks run, one after the other.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "actorc" / "docs" / "migration.md"
CODES = ROOT / "actorc" / "docs" / "migration_codes.md"
CONSTRUCTS = Path(__file__).parent / "constructs.md"
DOCUMENTS = (GUIDE, CODES, CONSTRUCTS)
# With which what is migrated to a target compiles.
HEADERS = {
    "flow": ("flow/flow.h", "flow/test.h", "flow/coro/coroutine.h", "flow/combine/race.h"),
    "foundationdb": ("flow/flow.h", "flow/CoroUtils.h"),
}

_TOP = '#include "flow/flow.h"\nusing namespace flow;\n#include "flow/actorcompiler.h"\n\n'
_BLOCK = re.compile(r"^```(cpp|cmake|text|console) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_NAME = "example.actor.cpp"


@dataclass(frozen=True)
class Example:
    prelude: str
    before: str


def rendered(document: str) -> str:
    """The document with what the tool makes of its examples today."""
    before = ""
    with tempfile.TemporaryDirectory() as folder:

        def render(match: re.Match[str]) -> str:
            nonlocal before
            language, kind, text = match.groups()
            if kind == "before":
                before = text
            elif kind.startswith("file="):
                path = Path(folder, kind.removeprefix("file="))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            elif language == "console":
                text = _session(text, Path(folder))
            elif kind.startswith(("exact", "idiomatic")):
                options = _options(kind)
                text = made_of(before, options) if language == "cpp" else said_of(before, options)
            return f"```{language}{' ' if kind else ''}{kind}\n{text}```"

        return _BLOCK.sub(render, document)


def examples(document: str) -> list[Example]:
    prelude, found = "", []
    for _, kind, text in _BLOCK.findall(document):
        if kind == "prelude":
            prelude += text
        elif kind == "before":
            found.append(Example(prelude, text))
    return found


def made_of(before: str, options: list[str]) -> str:
    """What actors become."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _NAME).write_text(_TOP + before)
        _run(Path(folder), "--write", *options)
        text = Path(folder, "example.cpp").read_text()
    return text[re.match(r"(?:(?:#include|using namespace).*\n|\n)*", text).end() :]  # type: ignore[union-attr]


def said_of(before: str, options: list[str]) -> str:
    """Where the reader must look. Lines are counted from the start of the example."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _NAME).write_text(_TOP + before)
        said = _run(Path(folder), "--color=never", *options)
    paragraphs = said.split("\n\n")
    notes = [part.strip("\n") for part in paragraphs if re.match(rf"\n*{_NAME}:\d", part)]
    above = _TOP.count("\n")
    return re.sub(rf"^{_NAME}:(\d+)", lambda m: f"{_NAME}:{int(m[1]) - above}", "\n".join(notes) + "\n", flags=re.M)


def _options(kind: str) -> list[str]:
    style, *target = kind.split()
    return [f"--style={style}", *(f"--target={each}" for each in target)]


def _run(folder: Path, *options: str) -> str:
    from actorc_migrate.command import main

    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        main(["--jobs=1", *options, _NAME])
    return said.getvalue()


def _session(text: str, folder: Path) -> str:
    """The commands of a terminal session, run again."""
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    actorc = tools / "actorc"
    actorc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{ROOT}/actorc" "$@"\n')
    actorc.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "MILLRACE": str(ROOT), "LC_ALL": "C.UTF-8"}
    out = []
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        run = subprocess.run(
            ["sh", "-c", line[2:]],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        out += [line, *(each.rstrip() for each in run.stdout.splitlines())]
    return "".join(f"{line}\n" for line in out)


def main() -> int:
    sys.path.insert(0, str(ROOT / "actorc"))
    if sys.argv[1:] != ["--write"]:
        print(__doc__)
        return 100
    for document in DOCUMENTS:
        document.write_text(rendered(document.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
