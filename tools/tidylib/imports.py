"""The imports of a Python file."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def imported(path: str, text: str) -> Iterator[tuple[int, str]]:
    """(line, its whole name) of each module, or name in a module, that is imported. Packages lie in the first folder of
    the path."""
    folders = path.split("/")[1:-1]
    for node in ast.walk(ast.parse(text, path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = folders[: len(folders) + 1 - node.level] if node.level else []
            module = [*around, *([node.module] if node.module else [])]
            yield from ((node.lineno, ".".join([*module, alias.name])) for alias in node.names)
