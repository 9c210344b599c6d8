"""The arguments of millrace debugger."""

from __future__ import annotations

from millrace.common.arguments import CommandParser

DESCRIPTION = """\
Prints the line with which a debugger loads Millrace's commands (`flow pending`, `flow
stack`, `fibers`) and printers, for its start file:

  millrace debugger gdb >> ~/.gdbinit
  millrace debugger lldb >> ~/.lldbinit"""


def parser() -> CommandParser:
    result = CommandParser("millrace debugger", DESCRIPTION)
    result.add_argument("debugger", choices=("gdb", "lldb"))
    return result
