"""Command dispatch of a tool: finds and runs the command, and prints a failure in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module

from millrace.common.arguments import UsageError, unknown
from millrace.common.console import output, plain
from millrace.common.failure import Failure
from millrace.common.process import interrupt_on_terminate


def run(tool: str, commands: Mapping[str, str], default: str | None = None) -> int:
    """`commands` are modules with main(arguments, console for progress, console for results) -> exit code. A command is
    imported when it is used, since some imports are slow. `default`: the module without a command."""
    arguments = sys.argv[1:]

    def call() -> int:
        module = default
        if arguments and not arguments[0].startswith("-"):
            module = commands[chosen(arguments.pop(0), commands)]
        if module is None:
            raise UsageError(f"which command: {', '.join(commands)}? (see {tool} --help)")
        code: int = import_module(module).main(arguments, plain(stderr=True), output())
        return code

    return reported(tool, call)


def chosen(name: str, commands: Mapping[str, object]) -> str:
    if name not in commands:
        raise UsageError(unknown("command", name, commands))
    return name


def reported(tool: str, call: Callable[[], int], failed: int = 1) -> int:
    """The exit code of a call. `failed`: that of a Failure."""
    interrupt_on_terminate()
    try:
        try:
            return call()
        finally:  # --help ends it by a SystemExit
            sys.stdout.flush()
    except UsageError as error:
        print(f"{tool}: {error}", file=sys.stderr)
        return 2
    except Failure as error:
        print(error, file=sys.stderr)
        return failed
    except OSError as error:
        # Output that is still buffered would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f"{error.filename}: " if error.filename else ""
        print(f"{tool}: {where}{error.strerror or error}", file=sys.stderr)
        return failed
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
        return 130
