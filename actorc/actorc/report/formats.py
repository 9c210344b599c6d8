"""Diagnostics for programs: JSON and SARIF 2.1.0.

Lines and columns count from 1, columns in characters; an end is the place behind the last character.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from actorc import __version__
from actorc.diagnostics import Diagnostic, Fault, Fix, Severity
from actorc.report.explain import page
from actorc.report.failure import Failure
from actorc.source import Source
from actorc.syntax import Span

Findings = Sequence[tuple[Source, Sequence[Diagnostic]]]
Failures = Sequence[Failure]

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(findings: Findings, failures: Failures = ()) -> str:
    """One object: `version` of this shape, `tool`, and `diagnostics`, those of one file after those of another; and
    `failures` of what could not be done, each with `file`, `kind` ("file" or "internal") and `message`.

    Each has `file`, `code`, `severity`, `title`, `message`, `hint` (or null), `range`, `notes` (`message`, `range`) and
    `fixes` (`message`, `edits` with `range` and `text`). A range has `start` and `end`, each with `line`, `column` and
    `offset`, which counts characters from the beginning of the file.
    """
    found = [_json_diagnostic(diagnostic, source) for source, all_ in findings for diagnostic in all_]
    failed = [{"file": failure.path, "kind": failure.kind, "message": failure.message} for failure in failures]
    tool = {"name": "actorc", "version": __version__}
    document = {"version": 1, "tool": tool, "diagnostics": found, "failures": failed}
    return json.dumps(document, indent=2) + "\n"


def _json_diagnostic(diagnostic: Diagnostic, source: Source) -> dict[str, Any]:
    return {
        "file": source.path,
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "title": diagnostic.fault.title,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "range": json_range(diagnostic.span, source),
        "notes": [{"message": note.message, "range": json_range(note.span, source)} for note in diagnostic.notes],
        "fixes": [
            {
                "message": fix.message,
                "edits": [{"range": json_range(edit.span, source), "text": edit.text} for edit in fix.edits],
            }
            for fix in diagnostic.fixes
        ],
    }


def json_range(span: Span, source: Source) -> dict[str, Any]:
    return {"start": _position(span.start, source), "end": _position(span.end, source)}


def _position(offset: int, source: Source) -> dict[str, int]:
    line, column = source.line_column(offset)
    return {"line": line, "column": column, "offset": offset}


# ---------------------------------------------------------------------------------------------------------------
# SARIF


def as_sarif(findings: Findings, failures: Failures = ()) -> str:
    """A log with one run, which is successful unless something could not be done. A rule's help is the page of its
    code."""
    used = sorted({diagnostic.code for _, all_ in findings for diagnostic in all_})
    rules = [_rule(fault) for fault in Fault if fault.code in used]
    results = [_result(diagnostic, source, used) for source, all_ in findings for diagnostic in all_]
    driver = {"name": "actorc", "version": __version__, "rules": rules}
    invocation = {
        "executionSuccessful": not failures,
        "toolExecutionNotifications": [_notification(failure) for failure in failures],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _notification(failure: Failure) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": failure.message},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(failure.path)}}],
    }


def _rule(fault: Fault) -> dict[str, Any]:
    text = page(fault.code).text
    return {
        "id": fault.code,
        "name": "".join(word.capitalize() for word in fault.name.split("_")),
        "shortDescription": {"text": fault.title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": fault.severity.value},
    }


def _result(diagnostic: Diagnostic, source: Source, rules: Sequence[str]) -> dict[str, Any]:
    message = diagnostic.message if diagnostic.hint is None else f"{diagnostic.message} (hint: {diagnostic.hint})"
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules.index(diagnostic.code),
        "level": "error" if diagnostic.severity is Severity.ERROR else "warning",
        "message": {"text": message},
        "locations": [{"physicalLocation": _place(diagnostic.span, source)}],
    }
    if diagnostic.notes:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": note.message}, "physicalLocation": _place(note.span, source)}
            for number, note in enumerate(diagnostic.notes, 1)
        ]
    if diagnostic.fixes:
        result["fixes"] = [_sarif_fix(fix, source) for fix in diagnostic.fixes]
    return result


def _sarif_fix(fix: Fix, source: Source) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.span, source), "insertedContent": {"text": edit.text}} for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(source.path), "replacements": replacements}
    return {"description": {"text": fix.message}, "artifactChanges": [change]}


def _place(span: Span, source: Source) -> dict[str, Any]:
    return {"artifactLocation": _artifact(source.path), "region": _region(span, source)}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path, errors="surrogateescape")}


def _region(span: Span, source: Source) -> dict[str, int]:
    line, column = source.line_column(span.start)
    end_line, end_column = source.line_column(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
