"""Names of actor files in CMake files.

`add_actor_sources(target FILES x.actor.cpp)` becomes `target_sources(target PRIVATE x.cpp)` with the library that it
linked; every other list keeps its command, which gets the new names. The contents of a variable are not known: that
place is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from actorc.records import dataclass
from actorc.syntax import Span
from actorc_migrate.directives import renamed
from actorc_migrate.edits import Edits

# A comment, a bracket argument, a quoted argument, a parenthesis, or a word.
_TOKEN = re.compile(
    r'#\[(=*)\[.*?\]\1\]|#[^\n]*|\[(=*)\[.*?\]\2\]|"(?:[^"\\]|\\.)*"|[()]|(?:[^\s()#"\\]|\\.)+', re.DOTALL
)
_ACTOR_FILE = re.compile(r"[^*?\\]+\.actor(?:\.g)?\.(?:cpp|h)")
_MENTION = re.compile(r"\.actor\\*\.")
_VARIABLE = re.compile(r"\$\{[^}]*\}/?|\$<[^>]*>")
_SOURCES = "add_actor_sources"
_HEADS = frozenset({"BACKEND", "DEFINITIONS", "OPTIONS", "FILES"})


@dataclass(frozen=True, slots=True)
class Place:
    """A place where the reader must decide."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    span: Span

    @property
    def path(self) -> str:
        """Without quotes, and without a variable in front."""
        return _VARIABLE.sub("", self.text.strip('"'))

    @property
    def is_actor_file(self) -> bool:
        return bool(_ACTOR_FILE.fullmatch(self.path))


def update_lists(
    text: str, moves: Callable[[str], bool | None], edits: Edits, line_end: str, library: str
) -> list[Place]:
    """`moves` returns whether a file gets its new name; None if that is unknown. `library`: the library that plain
    sources must link explicitly; may be empty."""
    places: list[Place] = []
    added: set[tuple[str, str]] = set()
    for command, words, close in _commands(text):
        if command.text.lower() == _SOURCES:
            places += _sources(text, command, words, close, moves, edits, line_end, library)
            places += _twice(words, added)
        else:
            places += _names(words, moves, edits)
    return places


def _commands(text: str) -> Iterator[tuple[_Word, list[_Word], int]]:
    """Each command with its arguments and the offset of its `)`."""
    depth = 0
    command: _Word | None = None
    words: list[_Word] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == "#":
            continue
        if token == "(":
            depth += 1
        elif token == ")":
            depth = max(0, depth - 1)
            if depth == 0 and command is not None:
                yield command, words, match.start()
                command = None
        elif depth:
            words.append(_Word(token, Span(match.start(), match.end())))
        else:
            command, words = _Word(token, Span(match.start(), match.end())), []


def _twice(words: Sequence[_Word], added: set[tuple[str, str]]) -> Iterator[Place]:
    """An actor file may be added for each back end; a plain one is compiled once."""
    for word in words[1:]:
        if word.is_actor_file:
            one = words[0].text, word.text
            if one in added:
                yield Place(word.span, f"`{word.text}` is added to `{words[0].text}` a second time")
            added.add(one)


def _names(words: Sequence[_Word], moves: Callable[[str], bool | None], edits: Edits) -> Iterator[Place]:
    for word in words:
        if not word.is_actor_file:
            if _MENTION.search(word.text):
                yield Place(
                    word.span, f"`{word.text}` stands for actor files, some of which have other names from now on"
                )
            continue
        moved = moves(word.path)
        if moved is None:
            yield Place(word.span, f"`{word.text}` is none of the given files, or one of several")
        elif moved and ".actor.g." in word.path:
            yield Place(word.span, f"`{word.text}` was made of a file that is plain C++ from now on")
        elif moved:
            edits.replace(word.span, renamed(word.text.removesuffix('"')) + ('"' if word.text[-1] == '"' else ""))


def _sources(
    text: str,
    command: _Word,
    words: Sequence[_Word],
    close: int,
    moves: Callable[[str], bool | None],
    edits: Edits,
    line_end: str,
    library: str,
) -> Iterator[Place]:
    lists: dict[str, list[_Word]] = {}
    head = ""
    for word in words[1:]:
        if word.text in _HEADS:
            head = word.text
        lists.setdefault(head, []).append(word)
    files = lists.get("FILES", [])[1:]
    moved = [word for word in files if word.is_actor_file and moves(word.path)]
    unknown = [word for word in files if not word.is_actor_file]
    if unknown:
        yield Place(unknown[0].span, f"`{_SOURCES}` takes actor files only: add those that are none to the target by "
                    "`target_sources`")  # fmt: skip
    yield from (
        place for place in _names(files, moves, Edits(text)) if "$" not in text[place.span.start : place.span.end]
    )
    if not moved or unknown:
        yield from _names(moved, moves, edits)
        return
    indent = text[text.rfind("\n", 0, command.span.start) + 1 : command.span.start]
    indent = indent if not indent.strip() else ""
    target = words[0].text
    headers = any(word.path.endswith(".h") for word in moved)
    definitions = [word.text for word in lists.get("DEFINITIONS", [])[1:]]
    names = [renamed(word.text.strip('"')) for word in moved]
    link = f"target_link_libraries({target} {'PUBLIC' if headers else 'PRIVATE'} {library})"
    behind = [link] if library else []
    if definitions:
        sources = " ".join(name for name in names if not name.endswith(".h"))
        behind.append(f"set_property(SOURCE {sources} APPEND PROPERTY COMPILE_DEFINITIONS {' '.join(definitions)})")
    if len(moved) == len(files):
        edits.replace(command.span, "target_sources")
        for key in ("BACKEND", "DEFINITIONS", "OPTIONS"):
            if key in lists:
                following = [word for word in words if word.span.start > lists[key][-1].span.start]
                edits.replace(Span(lists[key][0].span.start, following[0].span.start if following else close))
        edits.replace(lists["FILES"][0].span, "PRIVATE")
        yield from _names(moved, moves, edits)
        edits.insert(close + 1, *(f"{line_end}{indent}{line}" for line in behind))
        return
    for word in moved:
        edits.replace(Span(_before(text, word.span.start), word.span.end))
    behind.insert(0, f"target_sources({target} PRIVATE {' '.join(names)})")
    edits.insert(close + 1, *(f"{line_end}{indent}{line}" for line in behind))


def _before(text: str, offset: int) -> int:
    """Where the blanks before an offset begin."""
    return len(text[:offset].rstrip())
