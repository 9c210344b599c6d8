"""A minimal client for clangd: opens files, collects diagnostics, requests completions."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 120.0  # seconds for one answer, on a machine with other work


class Clangd:
    """A running clangd. Files are opened with the flags that the database in `commands` has for them."""

    def __init__(self, commands: Path) -> None:
        options = ["--background-index=0", "--clang-tidy=0", "--log=error", "-j=2", "--pch-storage=memory"]
        self._process = subprocess.Popen(
            ["clangd-19", f"--compile-commands-dir={commands}", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._numbers = itertools.count(1)
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._diagnostics: dict[str, list[str]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Clangd:
        self._request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._notify("initialized", {})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: Path, text: str) -> None:
        document = {"uri": path.as_uri(), "languageId": "cpp", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def diagnostics(self, path: Path) -> list[str]:
        """What the editor underlines in an opened file: `LINE: message`."""
        uri = path.as_uri()
        while uri not in self._diagnostics:
            self._next()
        return self._diagnostics[uri]

    def completions(self, path: Path, text: str, at: str) -> set[str]:
        """What is offered behind the first occurrence of `at` in the opened file."""
        before = text[: text.index(at) + len(at)]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        parameters = {"textDocument": {"uri": path.as_uri()}, "position": position}
        answer = self._request("textDocument/completion", parameters)
        return {item["insertText"] for item in answer["items"]}

    def _request(self, method: str, parameters: dict[str, Any]) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._next()
            if message.get("id") == number:
                return message["result"]

    def _notify(self, method: str, parameters: dict[str, Any]) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _next(self) -> dict[str, Any]:
        message = self._messages.get(timeout=PATIENCE)
        assert message is not None, "clangd ended"
        if message.get("method") == "textDocument/publishDiagnostics":
            parameters = message["params"]
            found = [f"{each['range']['start']['line'] + 1}: {each['message']}" for each in parameters["diagnostics"]]
            self._diagnostics[parameters["uri"]] = found
        return message

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while header := stream.readline():
            size = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._messages.put(json.loads(stream.read(size)))
        self._messages.put(None)
