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
        text = "flow::Pending wait_; " if self._body.waits else ""
        if self._body.uses_error:
            text += "flow::Error error_; "
        entry = "actor_.entry()"
        if self.needs_entry:
            text += f"int entry_ = {entry}; "
            entry = "entry_"
        return text + (switch(entry, self._jumps.entry) if self._jumps.entry else "")

    def _when(self, operand: str) -> str:
        return f"actor_.when(choose_, {operand})"

    def _suspend(self, node: Suspend) -> str:
        number = node.number
        if node.is_choose:
            park = f"return actor_.park(choose_, {number}); resume{number}:;"
            return f"if (!choose_.decided()) {{ {park} }} wait_ = choose_.result();"
        park = f"return actor_.park(wait_, {number}); resume{number}: wait_ = actor_.resumed();"
        return f"if (!actor_.ready(wait_)) {{ {park} }}"

    def _fail(self, error: str) -> str:
        return f"return actor_.fail({error});"

    def _return(self, node: Return) -> str:
        if node.is_never:
            return "return actor_.never();"
        if node.value is None:
            return "return actor_.finish();"
        value = pieces(node.value)
        return f"return actor_.finish({f'std::move({value})' if node.is_moved else value});"
