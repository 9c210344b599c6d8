"""Mutants of actorc: of the compiler, `actorc check`, `actorc migrate` and the language server."""

from __future__ import annotations

from mutantslib.mutant import Mutant

MUTANTS = (
    # ---------------------------------------------------------------------------------------------------------- parse
    Mutant(
        "EmptyRangeAtTheEnd",
        "actorc/actorc/parse/brackets.py",
        "            if stop == end - 1:\n                ranges.append((end, end))\n",
        "",
    ),
    Mutant(
        "MemberNamedWait",
        "actorc/actorc/parse/waits.py",
        '_MEMBER_ACCESS = frozenset({".", "->", "::"})',
        '_MEMBER_ACCESS = frozenset({".", "::"})',
    ),
    Mutant(
        "WaitBehindAndAnd",
        "actorc/actorc/parse/waits.py",
        '_BRANCHES = frozenset({"&&", "||", "?", "and", "or"})',
        '_BRANCHES = frozenset({"||", "?", "or"})',
    ),
    # ---------------------------------------------------------------------------------------------------------- check
    Mutant(
        "LoopWithoutBreakEnds",
        "actorc/actorc/check/reach.py",
        "                return Flow(once.breaks if endless else once.breaks | arriving)",
        "                return Flow(once.breaks | arriving)",
    ),
    Mutant(
        "ThrowInNestedHandler",
        "actorc/actorc/check/check.py",
        "                self._check_throws(catch.body, has_error=True)",
        "                self._check_throws(catch.body, has_error=has_error)",
    ),
    Mutant(
        "LocalHidesLaterState",
        "actorc/actorc/check/lost_locals.py",
        "        if kept.span.start > local.span.start:\n            return\n",
        "",
    ),
    Mutant(
        "WaitBehindTheTry",
        "actorc/actorc/check/handlers.py",
        "                    if skips_rest:\n                        return False\n",
        "                    pass\n",
    ),
    # ---------------------------------------------------------------------------------------------------------- lower
    Mutant(
        "MovedResultIsReference",
        "actorc/actorc/lower/lower.py",
        "        hold = Hold.OWN if is_moved and result.hold is Hold.VALUE else result.hold",
        "        hold = result.hold",
    ),
    Mutant(
        "BranchesOfStreamTakeLate",
        "actorc/actorc/lower/lower.py",
        "        branches = tuple((-1 if wait.is_stream else 1) * self._places[wait].number for wait in waits)",
        "        branches = tuple(self._places[wait].number for wait in waits)",
    ),
    Mutant(
        "IfWithoutElseEnds",
        "actorc/actorc/lower/lower.py",
        "            ends = ends or reachable\n",
        "            ends = ends and reachable\n",
    ),
    Mutant(
        "RangesLeftFromTheOutside",
        "actorc/actorc/lower/tries.py",
        "for name in reversed(names))",
        "for name in names)",
    ),
    Mutant(
        "ErrorClauseBehindAll",
        "actorc/actorc/lower/tries.py",
        "            elif catch.kind is CatchKind.ALL or CatchKind.ALL not in kinds:",
        "            elif catch.kind is CatchKind.ALL:",
    ),
    # ----------------------------------------------------------------------------------------------------------- emit
    Mutant(
        "EntryNotReset",
        "actorc/actorc/emit/printer.py",
        'self._out.append(switch("entry__", cases, reset="entry__ = 0; "))',
        'self._out.append(switch("entry__", cases))',
    ),
    Mutant(
        "LineAfterLongGap",
        "actorc/actorc/emit/lines.py",
        "        if 0 < gap <= _MOST_EMPTY_LINES:",
        "        if gap <= _MOST_EMPTY_LINES:",
    ),
    Mutant(
        "ColumnInBytes",
        "actorc/actorc/emit/lines.py",
        '        self._width += len(text if text.isascii() else text.encode(errors="surrogatepass"))',
        "        self._width += len(text)",
    ),
    Mutant(
        "MoveOnlyByReference",
        "actorc/actorc/emit/signature.py",
        "    if parameter.is_rvalue or _MOVE_ONLY.fullmatch(type_):",
        "    if parameter.is_rvalue:",
    ),
    # --------------------------------------------------------------------------------------------------------- report
    Mutant(
        "CaretBehindTheLine",
        "actorc/actorc/report/report.py",
        "    width = max(1, min(span.end - span.start, len(text) - len(before)))\n    if",
        "    width = max(1, span.end - span.start)\n    if",
    ),
    Mutant(
        "StatusOfLastFile",
        "actorc/actorc/batch.py",
        "            status = max(status, one)",
        "            status = one",
    ),
    Mutant(
        "HashInDependencies",
        "actorc/actorc/outputs.py",
        '.replace("#", "\\\\#")',
        "",
    ),
    Mutant(
        "NameTakenTwice",
        "actorc/actorc/repairs.py",
        "    used = {*words.texts[first:end], *taken}",
        "    used = {*words.texts[first:end]}",
    ),
    # ---------------------------------------------------------------------------------------------------- actorc check
    Mutant(
        "FirstPartOfForRepeats",
        "actorc/actorc_check/order.py",
        "        if node.kind in LOOPS and node in above_use and not _is_first_part(above_use, node):",
        "        if node.kind in LOOPS and node in above_use:",
    ),
    Mutant(
        "ConditionOfOwnVariable",
        "actorc/actorc_check/gcc.py",
        "    if any(_declares(node) for node in function.body.own()):\n        return\n",
        "",
    ),
    # ------------------------------------------------------------------------------------------------- actorc migrate
    Mutant(
        "OuterEditBehindInner",
        "actorc/actorc_migrate/edits.py",
        "    return edit.span.start, int(is_replacement), edit.rank, -edit.span.end",
        "    return edit.span.start, int(is_replacement), edit.rank, edit.span.end",
    ),
    Mutant(
        "FirstOperandMayBeCancelled",
        "actorc/actorc_migrate/operands.py",
        "        if self._actor.is_uncancellable or self._actor.result_type is None:\n            return False\n",
        "",
    ),
    # ------------------------------------------------------------------------------------------------ language server
    Mutant(
        "ErrorsOfOldText",
        "actorc/actorc_lsp/server.py",
        "        if uri in self.workspace.text_documents and self.is_current(uri, source):",
        "        if uri in self.workspace.text_documents:",
    ),
    Mutant(
        "WaitsOfChooseNumbered",
        "actorc/actorc_lsp/hovers.py",
        "        number += bool(waits)",
        "        number += len(waits)",
    ),
)
