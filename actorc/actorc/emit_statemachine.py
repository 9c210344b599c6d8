"""Actors as state machines: a struct with parameters and states, and one function with labels to resume at."""

from __future__ import annotations

from actorc import labels
from actorc.lowered import Body, Return, Suspend
from actorc.printer import Printer, pieces, switch
from actorc.render import render
from actorc.shell import Shell


def definition(shell: Shell, body: Body) -> str:
    """An actor's definition, with marks for lines."""
    printer = _StateMachinePrinter(body, labels.plan(body.code, resumes=True))
    return render("statemachine.j2", actor=shell, body=body, prologue=printer.prologue(), code=printer.body_text())


class _StateMachinePrinter(Printer):
    def prologue(self) -> str:
        """The variables of a_body, and the switch that leads to where it goes on."""
        text = "".join(f"struct {name}; " for name in self._body.deduced)
        text += "flow::Pending wait__; " if self._body.waits else ""
        if self._body.uses_error:
            text += "flow::Error error__; "
        entry = "actor__.entry()"
        if self.needs_entry:
            text += f"int entry__ = {entry}; "
            entry = "entry__"
        return text + (switch(entry, self._jumps.entry) if self._jumps.entry else "")

    def _when(self, operand: str) -> str:
        return f"actor__.when(choose__, {operand})"

    def _suspend(self, node: Suspend) -> str:
        number = node.number
        if node.is_choose:
            park = f"return actor__.park(choose__, {number}); resume{number}:;"
            return f"if (!choose__.decided()) {{ {park} }} wait__ = choose__.result();"
        park = f"return actor__.park(wait__, {number}); resume{number}: wait__ = actor__.resumed();"
        return f"if (!actor__.ready(wait__)) {{ {park} }}"

    def _fail(self, error: str) -> str:
        return f"return actor__.fail({error});"

    def _return(self, node: Return) -> str:
        if node.is_never:
            return "return actor__.never();"
        if node.value is None:
            return "return actor__.finish();"
        value = pieces(node.value)
        return f"return actor__.finish({f'std::move({value})' if node.is_moved else value});"
