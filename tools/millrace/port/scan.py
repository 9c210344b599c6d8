"""Reads a code base and counts what it uses of Flow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from millrace.port.forward import declared_in
from millrace.port.own import OwnHeaders, own_errors
from millrace.port.reading import Reading, read
from millrace.port.vocabulary import Vocabulary

_ENDINGS = (".h", ".hh", ".hpp", ".cpp", ".cc", ".cxx")
_NOT_READ = {".git", "build", "node_modules", ".venv"}
# Comments, string and character literals; raw strings first. What they hold is no code.
_NO_CODE = re.compile(
    r'R"([^ ()\\\t\n]{0,16})\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]((?:flow|fdbrpc)/[^">]+)[">]', re.MULTILINE)
_DECLARED = re.compile(
    r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(\w+)\s*(?:final\s*)?(?::[^:;{][^;{]*)?\{"
    r"|#[ \t]*define[ \t]+(\w+)|\busing\s+(\w+)\s*=|\btypedef\b[^;{}]*?\b(\w+)\s*;"
)
_DATABASE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](fdb(?:client|server)/[^">]+)[">]', re.MULTILINE)
_CALL = re.compile(r"(?<![\w.>:])([a-z_]+)\s*\(\s*\)")
# Written as the errors of Flow are, and used as one.
_THROWN = re.compile(r"\b(?:throw\s+|(?:sendError|Error|tagError)\s*\(\s*)([a-z]+(?:_[a-z]+)+)\s*\(\s*\)")
_PRIORITY = re.compile(r"\bTaskPriority\s*::\s*(\w+)")
# What stands before a name decides what the name is.
_NAME = re.compile(r"(::\s*|\.\s*|->\s*)?\b([A-Za-z_]\w*)\b")
_SCOPE = re.compile(r"([A-Za-z_]\w*)(?:<[^<>]*>)?$")
_KNOB = re.compile(r"\bFLOW_KNOBS\s*->\s*(\w+)")
_ERROR_CODE = "error_code_"
_KNOB_PREFIX = "FLOW_KNOBS->"
_PRIORITY_PREFIX = "TaskPriority::"


@dataclass(slots=True)
class Use:
    """Of one header or name."""

    advice: str | None  # what to do instead; None: it is here
    uses: int = 0
    files: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Scan:
    folder: Path
    files: list[str] = field(default_factory=list)
    headers: dict[str, Use] = field(default_factory=dict)
    names: dict[str, Use] = field(default_factory=dict)
    database: dict[str, Use] = field(default_factory=dict)  # headers, names and errors that are no part of Flow
    forward: dict[str, Use] = field(default_factory=dict)  # of Flow's classes that plain files declare
    refused: dict[str, Use] = field(default_factory=dict)  # by clang, by its message
    reading: Reading = field(default_factory=Reading)
    unread: dict[str, str] = field(default_factory=dict)  # files and folders that cannot be read, and why

    def using(self) -> set[str]:
        """The files that use Flow, or the database that it was written for."""
        uses = (self.headers, self.names, self.database, self.refused)
        return {file for each in uses for use in each.values() for file in use.files}

    def needing(self) -> set[str]:
        """The files that use what is missing."""
        uses = [*self.headers.values(), *self.names.values(), *self.refused.values()]
        missing = {file for use in uses if use.advice is not None for file in use.files}
        return missing | {file for use in self.database.values() for file in use.files}


def scan(folder: Path, vocabulary: Vocabulary, *, with_clang: bool = True) -> Scan:
    result = Scan(folder)
    texts: dict[str, str] = {}
    for file in source_files(folder, result.unread):
        try:
            texts[file.relative_to(folder).as_posix()] = file.read_text("utf-8", "replace")
        except OSError as error:
            result.unread[str(file)] = error.strerror or str(error)
    stripped = {name: without_comments(text) for name, text in texts.items()}
    own = {name for text in stripped.values() for match in _DECLARED.finditer(text) for name in match.groups() if name}
    advice = {name: what for name, what in vocabulary.advice_by_name().items() if name.split("::")[0] not in own}
    functions = own_errors(stripped)
    headers = OwnHeaders(folder, vocabulary.headers)
    if with_clang:
        result.reading = read(folder, texts, headers.is_made)
    clean = result.reading.clean()
    has_database = any(_DATABASE.search(text) for text in texts.values())
    database: dict[str, str | None] = dict.fromkeys(vocabulary.database - own if has_database else ())
    for name, text in texts.items():
        result.files.append(name)
        code = stripped[name]
        is_clean = name in clean  # clang has found all that it uses
        errors = list(_errors_in(code, vocabulary, functions))
        strange = [word for word in errors if _error_of(word) in vocabulary.database_errors]
        included = (path for path in _INCLUDE.findall(text) if not headers.has(path))
        used = (word for word in names_in(code, advice) if not is_clean or advice[word] is None)
        _add(result.headers, name, included, vocabulary.advice_for_header)
        _add(result.names, name, used, advice.__getitem__)
        _add(
            result.names,
            name,
            (word for word in errors if word not in strange and not is_clean),
            lambda word: vocabulary.advice_for_error(_error_of(word)),
        )
        if "FLOW_KNOBS" in advice and not is_clean:
            _add(result.names, name, _KNOB.findall(code), vocabulary.advice_for_knob, _KNOB_PREFIX)
        if "TaskPriority" in advice and not is_clean:
            _add(result.names, name, _PRIORITY.findall(code), vocabulary.advice_for_priority, _PRIORITY_PREFIX)
        if not is_clean:
            others = (path for path in _DATABASE.findall(text) if not headers.has(path))
            _add(result.database, name, [*others, *names_in(code, database), *strange])
        _add(result.forward, name, declared_in(name, text))
    for message in result.reading.errors:
        _add(result.refused, message.file, [message.message], {message.message: message.advice}.__getitem__)
    return result


def source_files(folder: Path, unread: dict[str, str]) -> Iterator[Path]:
    """In the order of their names. Folders that hold what was built are passed over."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        unread[str(folder)] = error.strerror or str(error)
        return
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            if path.name not in _NOT_READ:
                yield from source_files(path, unread)
        elif path.name.endswith(_ENDINGS) and ".g." not in path.name and path.is_file():
            yield path


def without_comments(text: str) -> str:
    """The code, with blanks for comments and literals; thus without the paths of includes."""
    return _NO_CODE.sub(lambda match: " " + "\n" * match[0].count("\n"), text)


def names_in(code: str, known: dict[str, str | None]) -> Iterator[str]:
    """Those of the known names that the code uses, each as often as it does."""
    members = {name.split("::")[1]: name for name in known if "::" in name}
    for match in _NAME.finditer(code):
        before, word = (match[1] or "").strip(), match[2]
        if before in (".", "->"):
            if word in members and members[word][0].isupper():
                yield members[word]
        elif before == "::":
            scope = _SCOPE.search(code, max(0, match.start() - 80), match.start())
            if scope is None or scope[1] == "flow":
                if word in known:
                    yield word
            elif f"{scope[1]}::{word}" in known:
                yield f"{scope[1]}::{word}"
        elif word in known:
            yield word


def _errors_in(code: str, vocabulary: Vocabulary, own: set[str]) -> Iterator[str]:
    """The codes of any errors, the calls of functions that make those of the table, and others that are thrown."""
    yield from (word for word in re.findall(rf"\b{_ERROR_CODE}\w+", code) if _error_of(word) not in own)
    known = (vocabulary.errors | vocabulary.database_errors) - {"success"}
    yield from (f"{name}()" for name in _CALL.findall(code) if name in known and name not in own)
    yield from (f"{name}()" for name in _THROWN.findall(code) if name not in known and name not in own)


def _error_of(word: str) -> str:
    return word.removeprefix(_ERROR_CODE).removesuffix("()")


def _nothing(_: str) -> None:
    return None


def _add(
    uses: dict[str, Use],
    file: str,
    found: Iterable[str],
    advice: Callable[[str], str | None] = _nothing,
    prefix: str = "",
) -> None:
    for name, count in Counter(found).items():
        use = uses.setdefault(prefix + name, Use(advice(name)))
        use.uses += count
        use.files.add(file)
