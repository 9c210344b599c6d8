"""Branches, loops and handlers: the statements that have others inside them."""

from __future__ import annotations

from actorc.diagnostics import Abandoned, Diagnostics, Fault
from actorc.parse.blocks import BlockParser
from actorc.parse.brackets import TokenList
from actorc.parse.declarations import is_type, locals_of, read_base, skip_attributes, skip_pointers
from actorc.parse.misspelt import ERROR_MISSPELT, is_meant_as_catch
from actorc.parse.plain import PlainParser
from actorc.parse.waitforms import WaitForms
from actorc.parse.waits import BEFORE, WaitScanner
from actorc.repairs import inserted, replaced
from actorc.syntax import (
    Block,
    Case,
    Catch,
    CatchKind,
    Code,
    DoWhile,
    For,
    If,
    Local,
    Loop,
    RangeFor,
    StateDecl,
    Statement,
    Switch,
    Try,
    While,
    suspends,
)
from actorc.words import KEYWORDS

Parsed = tuple[Statement, int]
_IN_LOOP = "write `loop { auto value = {wait}; if (!...) break; ... }`"
_CAUGHT_NAMES = frozenset({"e", "ex", "err"})  # which are hardly types
_NO_FORM = "this is not the header of a `for`"
_FOR_FORMS = "write `(INIT; CONDITION; STEP)` or `(DECLARATION : RANGE)`"


class ControlParser(BlockParser):
    def __init__(self, tokens: TokenList, diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._scanner = WaitScanner(tokens, diagnostics)
        self._forms = WaitForms(tokens, diagnostics, self._scanner)
        self._plain = PlainParser(tokens, diagnostics, self._scanner)

    def _code(self, first: int, end: int) -> Code | None:
        return self._tokens.code(first, end) if first < end else None

    def _condition(self, index: int, end: int, keyword: str) -> tuple[Code, int]:
        open_, close = self._parentheses(index, end, keyword)
        hint = _IN_LOOP if keyword == "while" else BEFORE
        statement = open_ - 1 if keyword in ("if", "switch") else None
        self._scanner.copied(open_ + 1, close, "in a condition", hint, statement)
        if self._is_state(open_ + 1):
            message = "a state variable cannot be declared in a condition"
            self._error(Fault.STATE_DECLARATION, message, open_ + 1, close, f"declare it before the `{keyword}`")
        return self._tokens.code(open_ + 1, close), close + 1

    def _is_state(self, index: int) -> bool:
        return self._texts[index] == "state" and self._tokens.is_name(index + 1)

    def _if(self, index: int, end: int) -> Parsed:
        is_constexpr = self._texts[index + 1] == "constexpr"
        condition, after = self._condition(index + 1 + is_constexpr, end, "if")
        then, after = self._sub_statement(after, end, "if (...)")
        orelse = None
        if after < end and self._texts[after] == "else":
            is_chain = self._texts[after + 1] == "if"
            belongs = self._else_if(after + 1, end) if is_chain else self._sub_statement(after + 1, end, "else")
            orelse, after = belongs
        return If(self._tokens.span(index, after), condition, is_constexpr, then, orelse), after

    # -----------------------------------------------------------------------------------------------------------
    # Loops

    def _loop_body(self, index: int, end: int, after: str) -> tuple[Block, int]:
        mark = len(self._plain.continues)
        block, stop = self._sub_statement(index, end, after)
        if len(self._plain.continues) > mark:
            if suspends(block):
                self._report_continues(mark, "`continue` cannot stand in a copied statement in a loop that waits")
            del self._plain.continues[mark:]
        return block, stop

    def _report_continues(self, mark: int, message: str) -> None:
        for span in self._plain.continues[mark:]:
            hint = "write what encloses it with `if` and `else`"
            self._diagnostics.error(Fault.OPAQUE_CONTROL_FLOW, message, span, hint=hint)
        del self._plain.continues[mark:]

    def _loop(self, index: int, end: int) -> Parsed:
        if self._texts[index + 1] == "(":
            hint = "write `while (...)`; an endless loop is `loop { ... }`"
            fixes = replaced(self._tokens.span(index, index + 1), "while")
            self._error(Fault.LOOP_CONDITION, "a `loop` has no condition", index, index + 1, hint, fixes)
            return self._while(index, end)
        body, after = self._loop_body(index + 1, end, "loop")
        return Loop(self._tokens.span(index, after), body), after

    def _while(self, index: int, end: int) -> Parsed:
        condition, after = self._condition(index + 1, end, "while")
        body, after = self._loop_body(after, end, "while (...)")
        return While(self._tokens.span(index, after), condition, body), after

    def _do(self, index: int, end: int) -> Parsed:
        body, after = self._loop_body(index + 1, end, "do")
        if after >= end or self._texts[after] != "while":
            message, hint = "this `do` has no `while` after its body", "write `while (...);` after it"
            self._error(Fault.MISSING_PARENTHESIS, message, index, index + 1, hint)
            return body, after
        condition, after = self._condition(after + 1, end, "while")
        after = self._semicolon(after, end, "while (...)")
        return DoWhile(self._tokens.span(index, after), body, condition), after

    def _semicolon(self, index: int, end: int, what: str) -> int:
        """The index after the `;` that must stand at `index`."""
        if index < end and self._texts[index] == ";":
            return index + 1
        message = f"a `;` is missing after `{what}`"
        place = self._tokens.after(index - 1)
        self._diagnostics.error(Fault.MISSING_SEMICOLON, message, place, fixes=inserted(place.start, ";"))
        return index

    def _for(self, index: int, end: int) -> Parsed:
        open_, close = self._parentheses(index + 1, end, "for")
        first = self._tokens.find(open_ + 1, close, (";",), angles=False)
        second = self._tokens.find(first + 1, close, (";",), angles=False)
        if second >= close:
            return self._range_for(index, close, first if first < close else open_, end)
        if self._tokens.find(second + 1, close, (";",), angles=False) < close:
            self._error(Fault.FOR_HEADER, _NO_FORM, open_, close + 1, _FOR_FORMS)
        init, states = self._for_init(open_ + 1, first)
        self._scanner.copied(open_ + 1, close, "in a `for` header", "write the loop as `loop` with a `break`")
        body, after = self._loop_body(close + 1, end, "for (...)")
        has_wait = self._scanner.first_wait(open_ + 1, first) is not None  # which has been reported
        if isinstance(init, Code) and not has_wait and suspends(body):
            self._refuse_for_local(open_ + 1, first)
        condition, step = self._code(first + 1, second), self._code(second + 1, close)
        return _behind(states, For(self._tokens.span(index, after), init, condition, step, body)), after

    def _for_init(self, first: int, end: int) -> tuple[Code | StateDecl | None, list[StateDecl]]:
        """What the header begins with; several states are to stand before the loop."""
        if self._texts[first] != "state" or first >= end:
            return self._code(first, end), []
        states = self._forms.states(first, end, False)
        return (states[0], []) if len(states) == 1 else (None, states)

    def _refuse_for_local(self, first: int, end: int) -> None:
        for local in locals_of(self._tokens, first, end):
            message = f"`{local.name}` does not live across the waits of this loop"
            text = self._tokens.text(first, end)
            can_be_state = not {"auto", "&", "const"} & set(self._texts[first:end])
            hint = f"write `for (state {text}; ...)`"
            if self._tokens.find(first, end, (",",)) < end and {"*", "&"} & set(self._texts[first:end]):
                hint, can_be_state = f"give each variable of `{text}` a `state` of its own before the loop", False
            elif "auto" in self._texts[first:end]:
                hint = f"write `for (state TYPE {local.name} = ...; ...)` with its type"
            fixes = inserted(self._tokens.span(first, end).start, "state ") if can_be_state else ()
            self._error(Fault.FOR_LOCAL, message, first, end, hint, fixes)

    def _range_for(self, index: int, close: int, semicolon: int, end: int) -> Parsed:
        """`for (decl : range)`; with an init-statement before `semicolon`, which is else the `(`."""
        open_, start = index + 1, semicolon + 1
        colon = self._tokens.find(start, close, (":",))
        is_state = self._texts[start] == "state"
        names = locals_of(self._tokens, start + is_state, colon)
        if not names and self._texts[colon - 2] == "&&" and self._tokens.is_name(colon - 1):
            names = (Local(self._texts[colon - 1], True),)  # `T&& x`, which else reads as an expression
        is_range = len(names) > 0 and colon + 1 < close
        if is_state or not is_range:
            if is_range:
                message, name = "the variable of a range cannot be a `state`", names[0].name
                hint = f"copy it in the loop: `for (auto& each : ...) {{ state TYPE {name} = each; ... }}`"
                self._error(Fault.FOR_HEADER, message, start, colon, hint)
            else:
                self._error(Fault.FOR_HEADER, _NO_FORM, open_, close + 1, _FOR_FORMS)
            self._loop_body(close + 1, end, "for (...)")
            raise Abandoned
        init, states = self._for_init(open_ + 1, semicolon) if semicolon > open_ else (None, [])
        self._scanner.copied(open_ + 1, close, "in a `for` header", BEFORE)
        body, after = self._loop_body(close + 1, end, "for (...)")
        has_wait = self._scanner.first_wait(open_ + 1, semicolon) is not None  # which has been reported
        if isinstance(init, Code) and not has_wait and suspends(body):
            self._refuse_for_local(open_ + 1, semicolon)
        decl, range_ = self._tokens.code(start, colon), self._tokens.code(colon + 1, close)
        return _behind(states, RangeFor(self._tokens.span(index, after), init, decl, names, range_, body)), after

    # -----------------------------------------------------------------------------------------------------------
    # switch

    def _switch(self, index: int, end: int) -> Parsed:
        open_ = self._tokens.next(index + 1, end)
        if self._texts[index + 1] == "(" and self._texts[open_] == "{" and self._has_inner_label(open_, end):
            opaque = self._plain.opaque(index, end)
            if opaque is not None:
                return opaque
        condition, after = self._condition(index + 1, end, "switch")
        if after >= end or self._texts[after] != "{":
            self._fail(Fault.SWITCH_BLOCK, "this `switch` has no block", index, after, "write `{ ... }` after it")
        close = self._tokens.partner.get(after)
        if close is None or close >= end:
            raise Abandoned
        self._enter(index)
        body = Block(self._tokens.span(after, close + 1), self._cases(after + 1, close))
        self._depth -= 1
        return Switch(self._tokens.span(index, close + 1), condition, body), close + 1

    def _cases(self, index: int, end: int) -> tuple[Statement, ...]:
        found: list[Statement] = []
        while index < end:
            statement: Statement | None
            label = skip_attributes(self._tokens, index, end)
            if self._is_label(label):
                statement, index = self._case(label, end)
            else:
                statement, index = self._recovering(index, end)
            if statement is not None:
                found += self._with_more(statement)
        return tuple(found)

    def _is_label(self, index: int) -> bool:
        return self._texts[index] == "case" or (self._texts[index] == "default" and self._texts[index + 1] == ":")

    def _case(self, index: int, end: int) -> tuple[Case, int]:
        colon = self._tokens.find(index, end, (":", ";"))
        for _ in range(self._texts[index:colon].count("?")):  # each has a `:` of its own
            colon = self._tokens.find(colon + 1, end, (":", ";"))
        if self._texts[colon] != ":" or (self._texts[index] == "case" and colon == index + 1):
            hint = "write `case VALUE:` or `default:`"
            self._error(Fault.CASE_LABEL, "this is not a label of a `switch`", index, min(colon + 1, end), hint)
        self._scanner.copied(index + 1, colon, "in a label", BEFORE)
        after = min(colon + 1, end)
        value = self._code(index + 1, colon) if self._texts[index] == "case" else None
        return Case(self._tokens.span(index, after), value), after

    def _has_inner_label(self, open_: int, end: int) -> bool:
        """Whether a label of the switch with this `{` stands in one of its inner blocks."""
        of_switches = {open_}
        blocks: list[int] = []
        for index in range(open_, self._tokens.partner.get(open_, open_)):
            while blocks and self._tokens.partner[blocks[-1]] < index:
                blocks.pop()
            if self._texts[index] == "switch":
                of_switches.add(self._tokens.next(index + 1, end))
            elif self._texts[index] == "{" and index in self._tokens.partner:
                blocks.append(index)
            elif self._is_label(index) and blocks[-1] not in of_switches:
                return True
        return False

    # -----------------------------------------------------------------------------------------------------------
    # try

    def _respell_as(self, index: int, meant: str) -> None:
        """Reports a misspelt keyword. It is read as the keyword from then on, so that nothing follows from it."""
        message = f"unknown keyword `{self._texts[index]}`; did you mean `{meant}`?"
        fixes = replaced(self._tokens.span(index, index + 1), meant)
        self._error(Fault.MISSPELT, message, index, index + 1, fixes=fixes)
        self._texts[index] = meant

    def _try(self, index: int, end: int) -> Parsed:
        body, after = self._sub_statement(index + 1, end, "try")
        if after < end and is_meant_as_catch(self._tokens, after):
            self._respell_as(after, "catch")
        if after >= end or self._texts[after] != "catch":
            self._error(Fault.TRY_WITHOUT_CATCH, "this `try` has no `catch`", index, index + 1,
                        "write `catch (Error& e) { ... }` after it")  # fmt: skip
            return body, after
        catches = []
        while after < end and self._texts[after] == "catch":
            catch, after = self._catch(after, end)
            catches.append(catch)
        return Try(self._tokens.span(index, after), body, tuple(catches)), after

    def _catch(self, index: int, end: int) -> tuple[Catch, int]:
        open_, close = self._parentheses(index + 1, end, "catch")
        kind, type_, name = self._caught(open_ + 1, close)
        body, after = self._sub_statement(close + 1, end, "catch (...)")
        head = self._tokens.span(index, close + 1)
        return Catch(self._tokens.span(index, after), kind, head, type_, name, body), after

    def _caught(self, first: int, end: int) -> tuple[CatchKind, Code | None, str | None]:
        """What a clause takes: its kind, the type, and the variable if it has one."""
        if self._texts[first:end] == ["..."]:
            return CatchKind.ALL, None, None
        name = None
        first = skip_attributes(self._tokens, first, end)
        type_end = end
        is_name = end - first == 1 and self._texts[first] in _CAUGHT_NAMES
        if is_name or not is_type(self._tokens, first, end):
            type_end = end - 1
            name = self._texts[type_end]
            named = self._tokens.is_name(type_end) and name not in KEYWORDS and is_type(self._tokens, first, type_end)
            variable = name if is_name else "e"
            if not named and self._has_declarator_around(first, end):
                message = "the type of what a `catch` takes must stand before its name"
                hint = "name the type with `using` outside of the actor, and write `catch (NAME e)`"
                self._error(Fault.CATCH_TYPE, message, first, end, hint)
                return CatchKind.OTHER, None, None
            if not named or "auto" in self._texts[first:end]:
                message = "a `catch` needs a type, a type and a name, or `...`"
                fixes = replaced(self._tokens.span(first, end), f"Error& {variable}")
                self._error(Fault.CATCH_TYPE, message, first, end, f"write `catch (Error& {variable})`", fixes)
                return CatchKind.OTHER, None, None
        words = [text for text in self._texts[first:type_end] if text not in ("const", "::", "&")]
        if len(words) == 1 and words[0] in ERROR_MISSPELT:
            fixes = replaced(self._tokens.span(first, end), f"Error& {name or 'e'}")
            hint = f"write `catch (Error& {name or 'e'})`"
            self._error(Fault.CATCH_TYPE, f"`{words[0]}` is misspelt: a handler takes `Error`", first, end, hint, fixes)
            return CatchKind.OTHER, None, None
        is_error = words in (["Error"], ["flow", "Error"])
        return CatchKind.ERROR if is_error else CatchKind.OTHER, self._tokens.code(first, type_end), name

    def _has_declarator_around(self, first: int, end: int) -> bool:
        """`int (*f)(int)` or `int a[3]`, with or without the name."""
        base = read_base(self._tokens, first, end)
        place = end if base is None else self._tokens.find(base.end, end, ("(", "["))
        return place < end and (self._texts[place] == "[" or skip_pointers(self._tokens, place + 1, end)[1] != "")


def _behind(states: list[StateDecl], loop: Statement) -> Statement:
    """The loop with the states that its header declares."""
    return Block(loop.span, (*states, loop)) if states else loop
