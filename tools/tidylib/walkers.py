"""Finds each `match` over node kinds of a tree that silently ignores an unknown kind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def node_kinds(texts: Iterable[str]) -> set[str]:
    """The names of the classes that the files define and that derive from `Node`."""
    kinds = {"Node"}
    for text in texts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and kinds.intersection(map(ast.unparse, node.bases)):
                kinds.add(node.name)
    return kinds


def passed_over(text: str, kinds: set[str]) -> Iterator[int]:
    """The lines of those that do not end in a `case _` which raises, or hands the node on to another method."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Match) and _matched(node) & kinds and not _refuses_others(node):
            yield node.lineno


def _matched(match: ast.Match) -> set[str]:
    patterns = (inner for case in match.cases for inner in ast.walk(case.pattern))
    return {ast.unparse(inner.cls).rpartition(".")[2] for inner in patterns if isinstance(inner, ast.MatchClass)}


def _refuses_others(match: ast.Match) -> bool:
    last = match.cases[-1]
    if last.guard is not None or not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern is not None:
        return False
    subject = ast.unparse(match.subject)
    inside = [node for statement in last.body for node in ast.walk(statement)]
    hands_on = any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("self.")
        and subject in map(ast.unparse, node.args)
        for node in inside
    )
    return hands_on or any(isinstance(node, ast.Raise) for node in inside)
