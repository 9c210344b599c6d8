"""The front of all measuring: finds the command and runs it. Start it as tools/bench."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from rich.console import Console

from common.failure import Failure
from common.process import interrupt_on_terminate
from perf.arguments import UsageError, unknown
from perf.tables import output

# Each is a module with main(arguments, console for progress, console for results) -> exit code. Imported when asked
# for, since some draw pictures, and what draws pictures starts slowly.
OVERVIEW = "perf.overview.command"
COMMANDS = {
    "growth": "perf.growth.command",
    "allocators": "perf.allocators.command",
    "instructions": "perf.instructions.command",
    "frames": "perf.frames.command",
    "check": "perf.check.command",
    "compiler": "perf.compiler.command",
    "profile": "perf.profile.command",
    "report": "perf.report.command",
    "compare": "perf.compare.command",
}


def main() -> int:
    interrupt_on_terminate()
    arguments = sys.argv[1:]
    try:
        module = OVERVIEW
        if arguments and not arguments[0].startswith("-"):
            name = arguments.pop(0)
            if name not in COMMANDS:
                raise UsageError(unknown("command", name, COMMANDS))
            module = COMMANDS[name]
        code: int = import_module(module).main(arguments, Console(stderr=True), output())
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"tools/bench: {error}", file=sys.stderr)
        return 2
    except Failure as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        # Whatever is left to be printed would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f"{error.filename}: " if error.filename else ""
        print(f"tools/bench: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools/bench: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
