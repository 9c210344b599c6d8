"""Texts for the parser fuzzer: pieces of real actor files, mutated or combined by a seeded generator."""

from __future__ import annotations

import random
import re
from pathlib import Path

from actorc.diagnostics import Diagnostics
from actorc.parse.parser import parse
from actorc.source import Source

ROOT = Path(__file__).parents[2]
_CORPUS = ("tests/programs/*.actor.cpp", "tests/golden/*.actor.cpp", "tests/actorc/*.actor.cpp", "bench/*.actor.cpp")
_PAGES = ("README.md", "flow/docs/tutorial.md", "actorc/docs/language/*.md")
_EXAMPLE = re.compile(r"^```cpp[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(r"\w+|[ \t]+|\n|.", re.DOTALL)
_LONGEST = 2_500  # characters; a longer text finds no more and takes longer

_INSERTED = (
    *"(){}[];<>\"'#:,=.*&", "::", "->", "...", "/*", "*/", "//", 'R"(', ')"', "\n", "\r\n", "\\\n", "\n#if X\n",
    "\n#else\n", "\n#endif\n", "ACTOR ", "SWIFT_ACTOR ", "TEST_CASE", "DESCR ", "UNCANCELLABLE ", "static ",
    "template <class T> ", "template <class... Ts> ", "class X ", "struct Y : Z<1> {", "namespace n {", "wait(f);",
    "wait(", "waitNext(s);", "state ", "state int i = 0;", "int n = wait(f);", "auto x = wait(f);", "auto [a, b] = ",
    "return wait(f);", "x = wait(f);", "if (x) ", "else ", "loop ", "while (x) ", "for (;;) ",
    "for (state int i = 0; i < 3; i++) ",
    "for (auto& v : values) ", "do {", "} while (x);", "switch (x) {", "case 1: ", "default: ", "try {",
    "} catch (Error& e) {", "} catch (...) {", "choose {", "when(wait(f)) {", "when(int n = waitNext(s)) {", "when(",
    "return ", "return Void();", "return Never();", "break;", "continue;", "throw;", "throw e;", "goto a;", "a: ",
    "co_await f;", "[&](int a) { return a; }", "[=] {", "Token t;", "std::vector<int> v{1, 2};", "const&", "constexpr ",
    "= delete;", "noexcept", "alignas(8) ", "[[nodiscard]] ", "[[flow_x]] ", "enum class E { a };", "using T = int;",
    "operator()(", "__LINE__", "1'000", "0x1p-3", 'u8"x"', "'\\''", "\0",
    "\x01", "\x01" "7\x02", "\udcff", "\ufeff", "é", "\u2028", "\t",
)  # fmt: skip
# Replaces or encloses a statement, so that many texts stay valid and reach the back ends.
_WRAPPED = (
    "{{ {} }}", "if (x) {{ {} }}", "if (int k = g(); k) {{ {} }} else {{ wait(f); }}", "loop {{ {} wait(f); }}",
    "while (g()) {{ {} }}", "for (int j = 0; j < 3; j++) {{ {} }}", "for (auto v : values) {{ {} wait(f); }}",
    "try {{ {} }} catch (Error& e) {{ wait(f); throw; }}", "try {{ wait(f); }} catch (Error& e) {{ {} }}",
    "choose {{ when(wait(f)) {{ {} }} when(int n = waitNext(s)) {{ break; }} }}", "do {{ {} }} while (g());",
    "switch (x) {{ case 1: {} break; default: wait(f); }}", "{{ Token t; {} }}", "Token t; {}", "{} wait(f);",
    "if constexpr (c) {{ {} }}", "loop {{ {} break; }}", "loop choose {{ when(wait(f)) {{ {} }} }}", "{{ {} return; }}",
)  # fmt: skip


def _read(path: Path) -> str:
    """As actorc reads a file: some of them are not UTF-8."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


class Corpus:
    """Actors and what stands between them, from every actor file of the project."""

    def __init__(self) -> None:
        files = [_read(path) for pattern in _CORPUS for path in sorted(ROOT.glob(pattern))]
        files += [
            text for pages in _PAGES for page in sorted(ROOT.glob(pages)) for text in _EXAMPLE.findall(_read(page))
        ]
        self.actors: list[str] = []
        self.other: list[str] = []
        for text in files:
            self._cut(text)
        self.lines = [line for text in self.actors for line in text.split("\n") if line.strip()]

    def _cut(self, text: str) -> None:
        end = 0
        for actor in parse(Source("corpus", text), Diagnostics()).actors:
            self.other += [text[end : actor.span.start][-300:]]
            self.actors += [text[actor.span.start : actor.span.end]]
            end = actor.span.end
        self.other += [text[end:][:300]]


class Mutator:
    def __init__(self, corpus: Corpus, chance: random.Random) -> None:
        self._corpus = corpus
        self._chance = chance

    def text(self) -> str:
        """One or a few pieces of the corpus with a few changes."""
        chance = self._chance
        parts = chance.choices(self._corpus.actors, k=chance.choice((1, 1, 1, 2)))
        if chance.random() < 0.3:
            parts.insert(chance.randrange(len(parts) + 1), chance.choice(self._corpus.other))
        text = "\n".join(parts)[:_LONGEST]
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 20))):
            change = chance.choices(_CHANGES, _WEIGHTS)[0]
            text = change(self, text)
        return text[: 2 * _LONGEST]

    def _range(self, length: int, most: int) -> tuple[int, int]:
        first = self._chance.randrange(length + 1)
        return first, min(length, first + self._chance.randrange(1, most + 1))

    def _characters(self, text: str) -> str:
        first, end = self._range(len(text), 3)
        new = "".join(chr(self._chance.randrange(256)) for _ in range(self._chance.randrange(3)))
        return text[:first] + new + text[end:]

    def _tokens(self, text: str) -> str:
        """Delete, repeat, move or exchange a few tokens."""
        tokens = _TOKEN.findall(text)
        first, end = self._range(len(tokens), self._chance.choice((1, 1, 3, 40)))
        taken = tokens[first:end]
        match self._chance.randrange(4):
            case 0:
                del tokens[first:end]
            case 1:
                tokens[first:first] = taken * self._chance.choice((1, 1, 2, 30))
            case 2:
                del tokens[first:end]
                place = self._chance.randrange(len(tokens) + 1)
                tokens[place:place] = taken
            case _:
                place = self._chance.randrange(len(tokens) + 1)
                tokens[first:end], tokens[place : place + len(taken)] = tokens[place : place + len(taken)], taken
        return "".join(tokens)

    def _insert(self, text: str) -> str:
        tokens = _TOKEN.findall(text)
        tokens.insert(self._chance.randrange(len(tokens) + 1), self._chance.choice(_INSERTED))
        return "".join(tokens)

    def _splice(self, text: str) -> str:
        """The first part of this text and the last of another, or a part of another in the middle."""
        other = _TOKEN.findall(self._chance.choice(self._corpus.actors))
        tokens = _TOKEN.findall(text)
        place = self._chance.randrange(len(tokens) + 1)
        first, end = self._range(len(other), len(other) or 1)
        rest = tokens[place:] if self._chance.random() < 0.5 else []
        return "".join((*tokens[:place], *other[first:end], *rest))

    def _lines(self, text: str) -> str:
        """Delete, repeat, exchange or borrow a line."""
        lines = text.split("\n")
        first, second = self._chance.randrange(len(lines)), self._chance.randrange(len(lines))
        match self._chance.randrange(4):
            case 0:
                del lines[first]
            case 1:
                lines.insert(second, lines[first])
            case 2:
                lines[first], lines[second] = lines[second], lines[first]
            case _:
                lines.insert(first, self._chance.choice(self._corpus.lines))
        return "\n".join(lines)

    def _wrap(self, text: str) -> str:
        """Put statements into another one."""
        ends = [match.end() for match in re.finditer(r"[;{}]", text)]
        if len(ends) < 2:
            return text
        first = self._chance.randrange(len(ends) - 1)
        last = min(len(ends) - 1, first + self._chance.choice((1, 1, 2, 3)))
        wrapped = self._chance.choice(_WRAPPED).format(text[ends[first] : ends[last]])
        return f"{text[: ends[first]]} {wrapped} {text[ends[last] :]}"

    def _truncate(self, text: str) -> str:
        return text[: self._chance.randrange(len(text) + 1)]


_CHANGES = (
    Mutator._characters, Mutator._tokens, Mutator._insert, Mutator._splice, Mutator._lines, Mutator._wrap,
    Mutator._truncate,
)  # fmt: skip
_WEIGHTS = (10, 20, 25, 10, 15, 30, 2)
