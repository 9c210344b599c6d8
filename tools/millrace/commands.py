"""The commands of `millrace`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """Its module millrace.NAME.arguments has parser(), and needs no package. millrace.NAME.command has
    main(options), or main(options, console for progress, console for results) if it needs Rich."""

    says: str
    needs: tuple[str, ...] = ()  # packages
    failed: int = 1  # the exit code of a Failure


COMMANDS = {
    "console": Command("shows live what a running program does", ("rich",)),
    "profile": Command("says where the time of a program goes", ("rich", "jinja2", "plotly")),
    "bench": Command("measures, compares and explains benchmarks", ("rich",)),
    "trace": Command("makes a page of a trace, which opens offline"),
    "simulate": Command("runs simulations for many seeds, and shrinks what fails", ("rich",), failed=2),  # 1: a seed
    "port": Command("says what a code base that uses Flow needs"),
    "debugger": Command("prints what the start file of gdb or lldb needs"),
    "completion": Command("prints a script that completes these words in a shell"),
}
