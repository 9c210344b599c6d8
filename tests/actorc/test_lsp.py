"""`actorc lsp` as an editor sees it: a client starts it and talks to it over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls")
pytest.importorskip("clang")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from actorc.report.explain import page

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds for one answer, on a machine with other work
TEXT = """\
ACTOR Future<int> sum(FutureStream<int> in, Future<Void> end) {
    state int total = 0;
    loop choose {
        when(int next = waitNext(in)) { total += next; }
        when(wait(end)) { break; }
    }
    wait(delay(1));
    return total;
}
/* 😀 */ ACTOR Future<int> lost(Future<int> f) { int a = 1; int b = wait(f); return a + b; }
ACTOR Future<Void> caller(Future<int> f) { wait(success(lost(f))); return Void(); }
"""


class Editor(LanguageClient):
    """Collects what the server publishes."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))
        self.feature(types.WINDOW_LOG_MESSAGE)(lambda _: None)

    async def open(self, path: Path, text: str) -> list[types.Diagnostic]:
        path.write_text(text, encoding="utf-8")
        return await self.open_text(path.as_uri(), text)

    async def open_text(self, uri: str, text: str) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(uri, "cpp", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.next_of(uri)

    async def next(self, path: Path) -> list[types.Diagnostic]:
        return await self.next_of(path.as_uri())

    async def next_of(self, uri: str) -> list[types.Diagnostic]:
        published = await asyncio.wait_for(self.published.get(), PATIENCE)
        assert published.uri == uri
        return list(published.diagnostics)

    async def hover(self, path: Path, position: types.Position) -> str:
        document = types.TextDocumentIdentifier(path.as_uri())
        found = await self.text_document_hover_async(types.HoverParams(document, position))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value


def talk(conversation: Callable[[Editor], Awaitable[None]]) -> None:
    async def run() -> None:
        editor = Editor()
        await editor.start_io(sys.executable, str(ROOT / "actorc"), "lsp")
        await editor.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        editor.initialized(types.InitializedParams())
        await asyncio.wait_for(conversation(editor), 2 * PATIENCE)
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()

    asyncio.run(run())


def test_it_ends_in_order_when_the_editor_says_so() -> None:
    messages = [{"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"id": 2, "method": "shutdown"}]
    texts = [json.dumps({"jsonrpc": "2.0", **message}) for message in (*messages, {"method": "exit"})]
    asked = "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)
    command = [sys.executable, str(ROOT / "actorc"), "lsp"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def place(text: str, words: str, inside: int = 0) -> types.Position:
    """Where the words stand first, as editors count."""
    before = text[: text.index(words) + inside]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def test_errors_have_ranges_fixes_and_go_when_they_are_mended(tmp_path: Path) -> None:
    path = tmp_path / "a.actor.cpp"

    async def conversation(editor: Editor) -> None:
        (found,) = await editor.open(path, TEXT)
        assert (found.code, found.source, found.severity) == ("A0601", "actorc", types.DiagnosticSeverity.Error)
        assert found.range == types.Range(place(TEXT, "a + b"), place(TEXT, "a + b", 1))
        assert found.related_information is not None
        assert [each.location.uri for each in found.related_information] == [path.as_uri()] * 2

        document = types.TextDocumentIdentifier(path.as_uri())
        asked = types.CodeActionParams(document, found.range, types.CodeActionContext([found]))
        (action,) = await editor.text_document_code_action_async(asked) or []
        assert isinstance(action, types.CodeAction)
        assert action.title == "actorc: declare `a` with `state`"
        assert action.edit is not None
        assert action.edit.changes is not None
        (edit,) = action.edit.changes[path.as_uri()]
        assert edit == types.TextEdit(types.Range(place(TEXT, "int a"), place(TEXT, "int a")), "state ")

        change = types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
        version = types.VersionedTextDocumentIdentifier(2, path.as_uri())
        editor.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        assert await editor.next(path) == []
        editor.text_document_did_close(types.DidCloseTextDocumentParams(document))
        assert await editor.next(path) == []

    talk(conversation)


def test_hovers_show_actors_and_explanations(tmp_path: Path) -> None:
    path = tmp_path / "a.actor.cpp"

    async def conversation(editor: Editor) -> None:
        await editor.open(path, TEXT)
        assert await editor.hover(path, place(TEXT, "sum(", 1)) == (
            "`ACTOR Future<int> sum`\n\n"
            "- parameter `FutureStream<int> in`\n- parameter `Future<Void> end`\n- state variable `int total`\n\n"
            "- wait 0, line 4: `int next = waitNext(in)`\n"
            "- wait 0, line 5: `wait(end)`\n- wait 1, line 7: `wait(delay(1))`\n"
        )
        assert (await editor.hover(path, place(TEXT, "lost(f)"))).startswith("`ACTOR Future<int> lost`")
        assert await editor.hover(path, place(TEXT, "a + b")) == page("A0601").text
        assert await editor.hover(path, place(TEXT, "state int")) == ""
        of_the_name = await editor.hover(path, place(TEXT, "sum(", 1))
        assert await editor.hover(path, place(TEXT, "ACTOR", 1)) == of_the_name
        assert (await editor.hover(path, place(TEXT, "ACTOR Future<Void> caller"))).startswith(
            "`ACTOR Future<Void> caller`"
        )

    talk(conversation)


def test_hovers_on_actor_answer_whatever_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.actor.cpp"
    text = (
        "ACTOR Future<int> open(int x) { wait(delay(1); return x; }\n"
        "ACTOR Future<int> dangling(int& x) { wait(delay(1)); return x; }\n"
        'TEST_CASE("/a") { wait(delay(1)); return Void(); }\n'
        'BENCHMARK_CASE("/b", n) { wait(delay(n)); return Void(); }\n'
    )

    async def conversation(editor: Editor) -> None:
        await editor.open(path, text)
        hover = await editor.hover(path, place(text, "ACTOR"))
        assert hover.startswith("`ACTOR Future<int> open`")
        assert hover.endswith("\nIts waits are known when its errors are mended.\n")
        hover = await editor.hover(path, place(text, "ACTOR Future<int> dangling"))
        assert hover.startswith("The head of this actor has an error: a reference parameter would dangle")
        hover = await editor.hover(path, place(text, "TEST_CASE"))
        assert hover.startswith('`TEST_CASE("/a")`')
        assert hover.endswith("\n- wait 0, line 3: `wait(delay(1))`\n")
        hover = await editor.hover(path, place(text, "BENCHMARK_CASE"))
        assert hover.startswith('`BENCHMARK_CASE("/b", n)`')

    talk(conversation)


def test_plain_sources_are_checked_when_they_are_opened_and_saved(tmp_path: Path) -> None:
    path = tmp_path / "plain.cpp"
    text = '#include "flow/core/future.h"\nflow::Future<int> f();\nvoid g() { f(); }\n'

    async def conversation(editor: Editor) -> None:
        (found,) = await editor.open(path, text)
        assert (found.code, found.range.start) == ("A0701", place(text, "f(); }"))
        assert await editor.hover(path, place(text, "f(); }")) == page("A0701").text
        mended = text.replace("f(); }", "(void)f(); }")
        version = types.VersionedTextDocumentIdentifier(2, path.as_uri())
        change = types.TextDocumentContentChangeWholeDocument(mended)
        editor.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        path.write_text(mended, encoding="utf-8")
        editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
        assert await editor.next(path) == []

    talk(conversation)


def test_sources_that_are_not_on_the_disk_are_checked_as_they_are_in_the_editor(tmp_path: Path) -> None:
    text = '#include "flow/core/future.h"\nflow::Future<int> f();\nvoid g() { f(); }\n'

    async def conversation(editor: Editor) -> None:
        for uri in ("untitled:Untitled-1", (tmp_path / "new.cpp").as_uri()):
            (found,) = await editor.open_text(uri, text)
            assert (found.code, found.range.start) == ("A0701", place(text, "f(); }"))
            version = types.VersionedTextDocumentIdentifier(2, uri)
            change = types.TextDocumentContentChangeWholeDocument(text.replace("f(); }", "(void)f(); }"))
            editor.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
            assert await editor.next_of(uri) == []
        for uri in ("untitled:new.actor.cpp", (tmp_path / "new.actor.cpp").as_uri()):
            (found,) = await editor.open_text(uri, TEXT)
            assert found.code == "A0601"

    talk(conversation)


def test_a_text_without_a_name_is_an_actor_file_if_it_has_actors() -> None:
    included = '#include "flow/flow.h"\n#include "flow/actorcompiler.h"\n'
    wrong = "namespace a { ACTOR flow::Future<int> lost(int n) { int a = n; wait(flow::delay(1)); return a; } }\n"

    async def conversation(editor: Editor) -> None:
        uri = "untitled:Untitled-1"
        document = types.TextDocumentIdentifier(uri)
        (found,) = await editor.open_text(uri, TEXT)
        assert found.code == "A0601"
        params = types.HoverParams(document, place(TEXT, "sum(", 1))
        hover = await editor.text_document_hover_async(params)
        assert hover and isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value.startswith("`ACTOR Future<int> sum`")
        # A text that becomes one, by the include.
        uri = "untitled:Untitled-2"
        assert await editor.open_text(uri, "void f();\n") == []
        version = types.VersionedTextDocumentIdentifier(2, uri)
        change = types.TextDocumentContentChangeWholeDocument(included + wrong)
        editor.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        (found,) = await editor.next_of(uri)
        assert (found.code, found.range.start) == ("A0601", place(included + wrong, "return a", 7))

    talk(conversation)
