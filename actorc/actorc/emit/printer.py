"""Prints a lowered body. This is the part that both back ends share; each adds how it suspends, fails and returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from actorc.emit.lines import BREAK, MAY_BREAK, at
from actorc.lower.lowered import (
    Assign,
    Body,
    Branches,
    Case,
    ChooseOperands,
    Code,
    Goto,
    Handler,
    If,
    IfFailed,
    Jumps,
    Label,
    LabelName,
    Loop,
    NativeCatch,
    Node,
    Operand,
    Raise,
    Region,
    Return,
    Scope,
    Suspend,
    Switch,
    Try,
    Variable,
)
from actorc.source import Pieces, Text
from actorc.syntax import unknown


def pieces(parts: Pieces) -> str:
    return "".join(part if isinstance(part, str) else _text(part) for part in parts)


def moved(value: Pieces) -> str:
    """The name of a variable that is not read again and may be moved, unless it is a reference."""
    (name,) = (part.text for part in value if isinstance(part, Text))
    return f"std::forward<decltype({name})>({pieces(value)})"


def beside(node: Assign | Return) -> str:
    """A comment with the statement: of what it becomes clang shows the emitted line, where gcc shows the source."""
    return f" // {node.source.text}\n{at(node.source.line)}"


def _text(text: Text) -> str:
    """Source text; a comment at its end must not swallow what follows."""
    last = text.text.rpartition("\n")[2]
    return at(text.line, text.column) + text.text + ("\n" if "//" in last else "")


def switch(value: str, cases: Iterable[Case], *, reset: str = "", otherwise: str = "break") -> str:
    """Dispatches to the label in `entry__`. `reset` runs on arrival."""
    texts = [f"{MAY_BREAK}case {case.code}: {reset if case.arrives else ''}goto {case.label};" for case in cases]
    return f"switch ({value}) {{ {' '.join(texts)} default: {otherwise}; }} "


def initialiser(state: Variable, default: str) -> str:
    """The initialiser of a state variable."""
    if state.slot:
        return f"({state.slot_name}.start())"
    return pieces(state.init) if state.init else default


class Printer(ABC):
    _frame: str  # what waits, as a pointer to a Waiter

    def __init__(self, body: Body, jumps: Jumps) -> None:
        self._body = body
        self._jumps = jumps
        self._out: list[str] = []

    def body_text(self) -> str:
        """The body in its braces, with marks for lines."""
        self._out.append("{ ")
        self._nodes(self._body.code.body)
        self._put(self._body.code.end_line, "}")
        return "".join(self._out)

    def _kept_ranges(self) -> str:
        """What spells the ranges with lambdas."""
        kept = [(state.range_name, state.name, pieces(state.kept)) for state in self._body.states if state.kept]
        return "".join(
            f"flow::RangeBy {by}({name}, [&](flow::AnyRange& any__) {{ return any__.{text}; }}); "
            for by, name, text in kept
        )

    @property
    def _places(self) -> str:
        """The largest number of in-place operations that are waited for at a time, an argument of OperationRoom."""
        return f", {self._body.choose_size}" if self._body.choose_size > 1 else ""

    @property
    def needs_entry(self) -> bool:
        """Whether there is a region to be entered by a dispatch, so that `entry__` must be a variable."""
        return bool(self._jumps.dispatch)

    @abstractmethod
    def _suspend(self, node: Suspend) -> str: ...

    @abstractmethod
    def _when(self, operand: str) -> str:
        """Take a branch of a choose; true if that decides it."""

    @abstractmethod
    def _fail(self, error: str) -> str:
        """End the actor with an error."""

    @abstractmethod
    def _return(self, node: Return) -> str: ...

    def _put(self, line: int, text: str) -> None:
        self._out.append(f"{at(line)}{text} ")

    def _nodes(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._node(node)

    def _node(self, node: Node) -> None:
        match node:
            case Code():
                self._put(node.line, pieces(node.pieces))
            case Scope():
                self._scope(node)
            case If():
                self._if(node)
            case Loop() | Switch():
                self._put(node.line, pieces(node.head))
                self._scope(node.body)
                if isinstance(node, Loop) and node.tail:
                    self._out.append(pieces(node.tail) + " ")
            case Try():
                self._try(node)
            case Handler():
                self._put(node.line, f"if (false) {{ {node.label}:")
                self._scope(node.body)
                self._out.append("} ")
            case Branches():
                self._branches(node)
            case _:
                self._put(node.line, self._leaf(node))

    def _leaf(self, node: Node) -> str:
        match node:
            case Operand():
                return f"wait__ = {self._pending(node)};"
            case ChooseOperands():
                return self._choose_operands(node)
            case Suspend():
                return self._front(node.label) + self._suspend(node)
            case IfFailed():
                test = f"!{node.passed}" if node.passed else "wait__.failed()"
                fail = self._fail("wait__") if node.handler is None else self._raise("wait__.takeError()", node.handler)
                rethrow = "wait__.rethrow(); " if node.rethrows else ""
                return f"if ({test}) {{ {rethrow}{fail} }}" if rethrow or node.handler else f"if ({test}) {fail}"
            case Assign():
                return self._assign(node)
            case Raise():
                return self._raise(pieces(node.error), node.handler)
            case Return():
                return self._return(node)
            case Goto():
                return self._goto(node)
            case Label():
                return f"{self._front(node.label).strip()};" if node.label in self._jumps.used else ""
            case _:
                raise unknown(node)

    @staticmethod
    def _assign(node: Assign) -> str:
        """The call is short, since gcc points at its end: that must be within the user's `wait(f)`. `got__` is a
        capture, since a variable would take room in the frame of gcc's coroutines."""
        got = f"got__ = [&] {{ return {node.value}; }}"
        return f"[&, {got}] {{ {pieces(node.target)} got__();{beside(node)}}}();"

    @staticmethod
    def _pending(operand: Operand) -> str:
        """The break keeps what is emitted behind it out of the line that clang shows for what is waited for."""
        expression = f"{_text(operand.word)}({_text(operand.value)})"
        return f"flow::{pieces(operand.function)}({operand.place}).{expression}{BREAK}{operand.dying}"

    def _front(self, label: LabelName) -> str:
        if label not in self._jumps.used:
            return ""
        return f"{label}: __attribute__((unused)); " if self._jumps.may_vanish else f"{label}: "

    def _raise(self, error: str, handler: LabelName | None) -> str:
        return self._fail(error) if handler is None else f"error__ = {error}; goto {handler};"

    def _goto(self, node: Goto) -> str:
        through = self._jumps.through.get(node)
        if through is None:
            return f"goto {node.label};"
        return f"entry__ = {through.code}; goto {through.label};"

    def _choose_operands(self, node: ChooseOperands) -> str:
        evaluation = ""
        for operand in node.operands[:-1]:
            when = self._when(self._pending(operand))
            # Temporaries end before the next operand is evaluated, which may decide the choose.
            evaluation += f"if (!{when}) {{ " if operand.is_name else f"(void){when}; if (choose__.undecided()) {{ "
        evaluation += f"(void){self._when(self._pending(node.operands[-1]))};" + " }" * (len(node.operands) - 1)
        return f"{{ auto evaluation__ = choose__.evaluate({self._frame}); {evaluation} evaluation__.done(); }}"

    # -----------------------------------------------------------------------------------------------------------

    def _scope(self, scope: Scope, region: Region | None = None) -> None:
        self._put(scope.line, "{")
        cases = self._jumps.dispatch.get(region, ()) if region is not None else ()
        if cases:
            self._out.append(switch("entry__", cases, reset="entry__ = 0; "))
        self._nodes(scope.body)
        self._put(scope.end_line, "}")

    def _if(self, node: If) -> None:
        front = "" if node.front is None else self._front(node.front)
        self._put(node.line, front + pieces(node.head))
        regions = [None, None] if node.front is None else [Region(node.front, 0), Region(node.front, 1)]
        self._scope(node.then, regions[0])
        if node.orelse is None:
            return
        self._out.append("else ")
        inner = node.orelse.body[0] if len(node.orelse.body) == 1 else None
        if isinstance(inner, If) and node.front is None and inner.front is None:
            self._if(inner)
        else:
            self._scope(node.orelse, regions[1])

    def _try(self, node: Try) -> None:
        self._put(node.line, self._front(node.region.front) + "try")
        self._scope(node.body, node.region)
        for catch in node.catches:
            self._out.append(self._native_catch(catch))

    def _native_catch(self, catch: NativeCatch) -> str:
        if catch.type is None:
            return f"catch (...) {{ error__ = flow::currentError(); goto {catch.handler}; }} "
        keep = "error__ = caught__;" if catch.is_error else "exception__.hold(caught__);"
        return f"catch ({pieces(catch.type)} caught__) {{{BREAK} {keep} goto {catch.handler}; }} "

    @staticmethod
    def _release_losers(node: Suspend) -> str:
        """Prints the code after a choose."""
        return f"flow::releaseLosers<{', '.join(map(str, node.branches))}>(room__, choose__, wait__);"

    def _branches(self, node: Branches) -> None:
        last = len(node.bodies) - 1
        for index, body in enumerate(node.bodies):
            test = "" if index == last else f"if (choose__.won({index})) "
            self._out.append(f"{'else ' if index else ''}{test}")
            self._scope(body)
