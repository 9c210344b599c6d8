"""Actors as state machines: a struct with parameters and states, and one function with labels to resume at."""

from __future__ import annotations

import re

from actorc.emit import layout
from actorc.emit.declaration import Declaration
from actorc.emit.lines import MAY_BREAK, apart, at
from actorc.emit.printer import Printer, beside, initialiser, moved, pieces, switch
from actorc.lower import labels
from actorc.lower.lowered import Body, ChooseOperands, Return, Suspend, Variable


def definition(declaration: Declaration, body: Body) -> str:
    """The definition of an actor, with line marks. Texts that share a line of the source may share a line."""
    classes = _classes(declaration, body)
    before, inside = ("", f"{classes} ") if declaration.is_local else (layout.around(declaration, classes), "")
    arguments = "" if declaration.is_local else declaration.class_arguments
    class_ = f"{declaration.class_name}{arguments}"
    call = f"flow::actor::start<{class_}>({declaration.passed()});"
    result = "" if declaration.result == "void" else "return "
    if declaration.declares_itself:
        before = f"{declaration.head()}; {before}"
    head = declaration.head(declares=not declaration.declares_itself, defines=True)
    pin = _pin(declaration, class_)
    start = apart(declaration.line)
    return f"{at(declaration.line)}{before}{head} {{ {start}{declaration.aliases}{inside}{pin}{result}{call} }}"


def _pin(declaration: Declaration, class_: str) -> str:
    """The assertion that rejects an actor that is too large."""
    if not declaration.frame_limit:
        return ""
    message = "this actor takes more bytes than its FLOW_ASSERT_FRAME_SIZE: `actorc --frames` shows what for"
    return f'static_assert(flow::actor::kBlockBytes<{class_}> <= {declaration.frame_limit}, "{message}"); '


def _classes(declaration: Declaration, body: Body) -> str:
    printer = _StateMachinePrinter(declaration, body)
    code = (
        _visit(declaration)
        + printer.prologue()
        + printer.body_text()
        + ("return actor__.finish(); " if body.ends else "")
    )
    is_template = declaration.template and not declaration.is_local
    signature = _signature(declaration, body, is_used="actor__" in code and not is_template)
    functions = f"{_waits(declaration, printer.waits)}{_constructor(declaration, body)}{signature} {{ {code}}} "
    return layout.classes(declaration, body, functions)


def _waits(declaration: Declaration, lines: dict[int, int]) -> str:
    """The function that returns the line of each suspension, for reports of waiting actors."""
    of_suspensions = [lines.get(number, declaration.line) for number in range(1, max(lines, default=0) + 1)]
    numbers = ", ".join(str(line) for line in [declaration.line, *of_suspensions])
    return f"FLOW_WAITS({numbers}) {MAY_BREAK}"


def _signature(declaration: Declaration, body: Body, *, is_used: bool) -> str:
    """The parameters of the function with the code. Packs cannot be members; the function that the frame calls passes
    them."""
    unused = "" if is_used else "[[maybe_unused]] "
    frame = f"{unused}flow::actor::{layout.frame_class(declaration, body)}<{declaration.result_type}>& actor__"
    # In a template it is compiled when its type is used: only then is the size of the actor's OperationRoom known.
    exit_ = MAY_BREAK + ("auto" if declaration.template or declaration.is_local else "flow::actor::Exit")
    head = f"{exit_} a_body({frame})"
    packs = [argument for argument in declaration.kept if argument.is_pack]
    if not packs:
        return head
    call = f"a_packs({', '.join(['actor__', *(f'{pack.name}...' for pack in packs)])})"
    for pack in reversed(packs):
        call = f"{pack.name}__.apply([&]({pack.type}&... {pack.name}) {{ return {call}; }})"
    declared = "".join(f", [[maybe_unused]] {pack.type}&... {pack.name}" for pack in packs)
    return f"{head} {{ return {call}; }} {exit_} a_packs({frame}{declared})"


def _constructor(declaration: Declaration, body: Body) -> str:
    """Initialises the parameters, then the states."""
    inits = [f"{each.own_name}{'__' if each.is_pack else ''}({each.passed()})" for each in declaration.kept]
    inits += [
        f"{at(state.type.line, state.column)}{state.name}{_initialiser(declaration, state)}" for state in body.states
    ]
    if not inits and not declaration.has_probes:
        return ""
    explicit = "explicit " if len(declaration.kept) == 1 else ""
    colon = " : " if inits else ""
    constructor = f"{explicit}{declaration.class_name}State({', '.join(each.inner for each in declaration.kept)})"
    declared = f"{at(declaration.line)}{constructor}{colon}{', '.join(inits)}"
    if body.states or not declaration.has_known_types:
        declared += apart(declaration.line)
    if not declaration.has_probes:
        return declared + " {} "
    created, destroyed = _probe(declaration, "create"), _probe(declaration, "destroy")
    return f"{declared} {{ {created} }} ~{declaration.class_name}State() {{ {destroyed} }} "


def _initialiser(declaration: Declaration, state: Variable) -> str:
    """The initialiser of a state in the constructor, which gets packs as in _signature."""
    text = initialiser(state, "()")
    packs = [each for each in declaration.kept if each.is_pack and re.search(rf"\b{each.name}\b", text)]
    if not packs:
        return text
    made = f"flow::actor::Type<{state.type.text}>{text}"
    for pack in packs:
        made = f"{pack.name}__.apply([&]([[maybe_unused]] {pack.type}&... {pack.name}) {{ return {made}; }})"
    return f"({made})"


def _probe(
    declaration: Declaration, event: str, address: str = "reinterpret_cast<unsigned long>(this)", index: str = ""
) -> str:
    return f'fdb_probe_actor_{event}("{declaration.name}", {address}{index});'


def _visit(declaration: Declaration) -> str:
    """Reports each activation of the actor, from its beginning to its end."""
    if not declaration.has_probes:
        return ""
    left = _probe(declaration, "exit", "address", ", index")
    entered = _probe(declaration, "enter", "visit__.address", ", visit__.index")
    return (
        f"struct Visit__ {{ unsigned long address; int index; ~Visit__() {{ {left} }} }} "
        f"visit__{{reinterpret_cast<unsigned long>(this), actor__.entry() - 1}}; {entered} "
    )


class _StateMachinePrinter(Printer):
    _frame = "&actor__"

    def __init__(self, declaration: Declaration, body: Body) -> None:
        super().__init__(body, labels.plan(body.code, resumes=True))
        self._state = f"{declaration.class_name}State"
        self.waits: dict[int, int] = {}  # the line of each suspension
        self._choose_line = 0

    def prologue(self) -> str:
        """The variables of a_body, and the switch that leads to where it goes on."""
        text = "".join(f"static {type_} {name}; " for type_, name in self._body.statics)
        for state in self._body.states:
            if state.is_erased:
                text += f"flow::RangeIn<{layout.state_type(state)}> {state.name}(this->{state.name}); "
        text += self._kept_ranges()
        if self._body.waits:
            text += f"{MAY_BREAK}flow::OperationRoom<{self._state}{self._places}> room__(this); "
            text += f"{MAY_BREAK}flow::Pending wait__ = actor__.resumed(); "
        if self._body.uses_error:
            text += "flow::Error error__; "
        if self._body.uses_exception:
            text += "flow::RaisedException exception__; "
        if not self._jumps.entry:
            return text
        text += f"{MAY_BREAK}int const from__ = actor__.entry(); "
        if self.needs_entry:
            text += "int entry__ = from__; "
        there = switch(
            "entry__" if self.needs_entry else "from__", self._jumps.entry, otherwise="__builtin_unreachable()"
        )
        return f"{text}{MAY_BREAK}if (from__ != 0) {there}"

    def _when(self, operand: str) -> str:
        return f"actor__.when(choose__, {operand})"

    def _choose_operands(self, node: ChooseOperands) -> str:
        self._choose_line = node.line
        return super()._choose_operands(node)

    def _suspend(self, node: Suspend) -> str:
        number = node.number
        self.waits[number] = self._choose_line if node.is_choose else node.line
        if node.is_choose:
            park = f"return actor__.park(choose__, {number});"
            taken = "wait__ = actor__.taken();"
            return f"if (!choose__.decided()) {park} {taken} resume{number}: {self._release_losers(node)}"
        return f"if (!actor__.ready(wait__, from__)) return actor__.park(wait__, {number}); resume{number}:"

    def _fail(self, error: str) -> str:
        return f"return actor__.fail({error});"

    def _return(self, node: Return) -> str:
        if node.is_never:
            return "return actor__.never();"
        if node.value is None:
            return "return actor__.finish();"
        value = moved(node.value) if node.is_moved else pieces(node.value)
        return f"return actor__.{at(node.source.line, node.source.column)}finish({beside(node)}{value});"
