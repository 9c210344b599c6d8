"""No input may make the front end fail or hang: seeded damage to a file with every construct."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

import pytest
from front import analysed, sound

from actorc.diagnostics import Diagnostics
from actorc.parse.lexer import lex
from actorc.report.report import as_text
from actorc.source import Source
from actorc.syntax import Actor, Block, Node, Span, walk
from fuzzlib import parser_command, parser_fuzz

SAMPLE = (Path(__file__).parent / "sample.actor.cpp").read_text(encoding="utf-8")
INSERTED = [
    *"(){}[];<>\"'#:,=", "/*", "//", 'R"(', "\n", "\\\n", "#if X\n", "#else\n", " ACTOR ", " wait(", " waitNext(",
    " state ", " else ", " catch ", " when(", " choose ", " loop ", " do ", " switch (", " case 1: ", " template <",
    " class X ",
    " return ", " break ", " for (", " try ", " co_await ", " goto ", "\0", "\udcff", "\ufeff", "é",
]  # fmt: skip


def pieces() -> list[str]:
    """The sample cut before each token."""
    starts = [token.start for token in lex(Source("sample", SAMPLE), Diagnostics())] + [len(SAMPLE)]
    return [SAMPLE[first:end] for first, end in itertools.pairwise(starts)]


def damaged(seed: int) -> str:
    chance = random.Random(seed)
    parts = pieces()
    for _ in range(chance.choice((1, 1, 1, 2, 5, 30))):
        first, second = chance.randrange(len(parts)), chance.randrange(len(parts))
        match chance.randrange(6):
            case 0:
                parts[first] = ""
            case 1:
                parts.insert(first, parts[second])
            case 2:
                parts[first], parts[second] = parts[second], parts[first]
            case 3:
                parts = [*parts[: first + 1]]
            case 4:
                parts.insert(first, "".join(chr(chance.randrange(256)) for _ in range(chance.randrange(9))))
            case _:
                parts.insert(first, chance.choice(INSERTED))
    return "".join(parts)


def check_spans(node: Node, outer: Span) -> None:
    """A node lies within the one around it."""
    assert outer.start <= node.span.start <= node.span.end <= outer.end
    for name in type(node).__match_args__:
        value = getattr(node, name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Node):
                check_spans(inner, node.span)


def check_nothing_lost(block: Block, source: Source) -> None:
    """Statements follow each other, and what stands between them is blanks, comments and empty statements."""
    if not source[block.span].startswith("{"):
        return
    end = block.span.start + 1
    for statement in (*block.statements, None):
        start = block.span.end - 1 if statement is None else statement.span.start
        between = lex(Source("between", source.text[end:start]), Diagnostics())
        assert {token.text for token in between} <= {";"}
        end = start if statement is None else statement.span.end


def check_actor(actor: Actor, source: Source) -> None:
    """What holds for every actor of a sound file."""
    check_spans(actor, Span(0, len(source.text)))
    assert source[actor.span][-1] in ";}"
    for node in walk(actor.body) if actor.body is not None else ():
        if isinstance(node, Block):
            check_nothing_lost(node, source)


def examine(text: str) -> None:
    started = time.process_time()
    file, source, diagnostics = analysed(text)
    rendered = as_text(diagnostics, source)
    assert time.process_time() - started < 1
    for found in diagnostics:
        assert 0 <= found.span.start <= found.span.end <= len(text)
        line, column = source.line_column(found.span.start)
        assert f":{line}:{column}: {found.severity.value}: " in rendered
    for actor in file.actors:
        assert text.startswith(("ACTOR", "SWIFT_ACTOR"), actor.span.start)
        check_spans(actor, Span(0, len(text)))
        if not diagnostics.errors:
            check_actor(actor, source)


def test_the_sample_is_sound() -> None:
    file, source = sound(SAMPLE)
    assert [found.name for found in file.actors] == ["member", "nested", "member", "detached"]
    for actor in file.actors:
        check_actor(actor, source)


@pytest.mark.parametrize("batch", range(10))
def test_damaged_files(batch: int) -> None:
    for seed in range(batch * 60, batch * 60 + 60):
        examine(damaged(seed))


def test_every_truncation() -> None:
    for length in range(0, len(SAMPLE), 7):
        examine(SAMPLE[:length])


REPEATED = [
    "{", "(", "[", "}", "<", "if (x) ", "loop ", "a < ", "f([](){ ", "else ", "try {", "ACTOR ", "/*", '"', 'R"(',
    "template <", "struct X : ", "class A ", "#if x\n", "[[", "wait(", "choose { when(wait(x)) {",
]  # fmt: skip


@pytest.mark.parametrize("text", REPEATED)
@pytest.mark.parametrize("before", ["", "ACTOR Future<Void> f() { ", "ACTOR Future<Void> f("])
def test_deep_and_long_repetitions(before: str, text: str) -> None:
    examine(before + text * 3000)


def test_random_bytes() -> None:
    chance = random.Random(1)
    for _ in range(100):
        data = bytes(chance.randrange(256) for _ in range(300))
        examine("ACTOR Future<Void> f() {" + data.decode("utf-8", errors="surrogateescape"))


def test_a_long_file_takes_about_a_second() -> None:
    text = SAMPLE * 200
    assert text.count("\n") > 11_000
    started = time.process_time()
    _, _, diagnostics = analysed(text)
    assert not diagnostics.errors
    assert time.process_time() - started < 3  # half a second on an idle machine


def test_a_hint_may_quote_braces() -> None:
    _, _, diagnostics = analysed("ACTOR Future<Void> a() {\n    state A<B{i}> x = f(wait(g));\n}\n")
    assert "A0401" in {found.code for found in diagnostics}


def test_one_execution_of_the_fuzzer_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parser_command, "text_of", lambda *_: "int x;")
    assert parser_command.only(1, 2) == 0
    monkeypatch.setattr(parser_fuzz, "execute", lambda _: [][1])
    assert parser_command.only(1, 2) == 1
    captured = capsys.readouterr()
    assert captured.out == "int x;\n" * 2
    assert captured.err.startswith("tools/fuzz: IndexError in ")
