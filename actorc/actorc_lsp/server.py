"""The server: actor files are looked at with each change, plain C++ when it is opened and saved.

Plain C++ that is not on the disk yet is looked at when it is opened, and half a second after the last change. A text
without a name is an actor file if it has an actor or includes flow/actorcompiler.h.
"""

from __future__ import annotations

import asyncio
import os
import re

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from actorc import __version__
from actorc.diagnostics import Diagnostics, Fault
from actorc.packages import PackageMissing
from actorc.source import Source
from actorc_check.actors import ACTOR_FILES, check_actors
from actorc_check.command import check
from actorc_frames.compile import CannotCompile
from actorc_lsp.analysis import Analysis
from actorc_lsp.hovers import hover

_UNTITLED = "untitled:"
_ACTORS = re.compile(r"^\s*(?:#\s*include\b.*\bactorcompiler\.h\b|(?:UNCANCELLABLE\s+)?ACTOR\b)", re.MULTILINE)
_PAUSE = 0.5  # seconds without a change, before clang reads a text that is only in the editor


class Server(LanguageServer):
    def __init__(self) -> None:
        super().__init__("actorc", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self.analyses: dict[str, Analysis] = {}

    def look(self, uri: str) -> None:
        """At an actor file, as it stands in the editor."""
        document = self.workspace.get_text_document(uri)
        source = Source(document.path or uri, document.source)
        diagnostics = Diagnostics()
        file = check_actors(source, diagnostics)
        self._publish(uri, Analysis(source, file, diagnostics), document.version)

    async def look_at_saved(self, uri: str) -> None:
        """At plain C++, as it is on the disk, or in the editor if it is not on the disk. clang takes seconds, during
        which the server answers other requests."""
        document = self.workspace.get_text_document(uri)
        if not uri.startswith(("file:", _UNTITLED)):
            return
        text = document.source if _is_unsaved(document) else None
        try:
            source, diagnostics = await asyncio.to_thread(_checked, document.path, text)
        except (CannotCompile, PackageMissing, OSError) as error:  # clangd shows what does not compile
            message = f"{document.path}: {error}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))
            return
        if uri in self.workspace.text_documents and self.is_current(uri, source):
            self._publish(uri, Analysis(source, None, diagnostics), None)

    async def look_at_changed(self, uri: str) -> None:
        """At plain C++ that is not on the disk, if it does not change again at once."""
        document = self.workspace.get_text_document(uri)
        if _is_unsaved(document):
            version = document.version
            await asyncio.sleep(_PAUSE)
            if uri in self.workspace.text_documents and document.version == version:
                await self.look_at_saved(uri)

    def is_actors(self, uri: str) -> bool:
        text = self.workspace.get_text_document(uri).source
        return uri.endswith(ACTOR_FILES) or (uri.startswith(_UNTITLED) and _ACTORS.search(text) is not None)

    def is_current(self, uri: str, source: Source) -> bool:
        """Whether this is what the editor shows: places in another text mean nothing."""
        return self.workspace.get_text_document(uri).source == source.text

    def _publish(self, uri: str, analysis: Analysis, version: int | None) -> None:
        self.analyses[uri] = analysis
        found = analysis.diagnostics(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def forget(self, uri: str) -> None:
        self.analyses.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def current(self, uri: str) -> Analysis | None:
        analysis = self.analyses.get(uri)
        return analysis if analysis is not None and self.is_current(uri, analysis.source) else None


def _checked(path: str, unsaved: str | None) -> tuple[Source, Diagnostics]:
    if unsaved is None:
        source = Source.read(path)
    else:
        source = Source.from_bytes(path, unsaved.encode("utf-8", errors="surrogateescape"))
    diagnostics = Diagnostics()
    check(source, None, diagnostics, is_saved=unsaved is None)
    for found in diagnostics.errors:
        if found.fault is Fault.WRONG_CPP and found.hint is None:  # clangd shows it as well
            diagnostics.drop(found)
    return source, diagnostics


def _is_unsaved(document: TextDocument) -> bool:
    return document.uri.startswith(_UNTITLED) or not os.path.exists(document.path)


def make_server() -> Server:
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        if server.is_actors(uri):
            server.look(uri)
        else:
            await server.look_at_saved(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if server.is_actors(uri):
            server.look(uri)
        else:
            await server.look_at_changed(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        if not server.is_actors(params.text_document.uri):
            await server.look_at_saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        analysis = server.current(uri)
        return [] if analysis is None else analysis.actions(uri, params.range)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        analysis = server.current(params.text_document.uri)
        found = None if analysis is None else hover(analysis, analysis.offset(params.position))
        if analysis is None or found is None:
            return None
        text, place = found
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), analysis.range(place))

    return server
