"""millrace COMMAND: what a program with Millrace does, and has done."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

if not __package__:  # started as the folder that it is in: `python tools/millrace`
    here = Path(__file__).resolve().parents[1]
    sys.path[:1] = [str(here), *(str(each / "actorc") for each in (here, here.parent) if (each / "actorc").is_dir())]

from actorc import __version__
from millrace.commands import COMMANDS
from millrace.common.arguments import UsageError
from millrace.common.console import output, plain
from millrace.common.dispatch import chosen, reported
from millrace.common.packages import require


def usage() -> str:
    lines = "\n".join(f"  {name:10} {command.says}" for name, command in COMMANDS.items())
    return f"usage: millrace COMMAND ...\n\n{lines}\n\nmillrace COMMAND --help says more."


def run(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        print(usage())
        return 0
    if arguments == ["--version"]:
        print(f"millrace {__version__}")
        return 0
    if not arguments:
        raise UsageError(f"which command: {', '.join(COMMANDS)}? (see millrace --help)")
    name = chosen(arguments[0], COMMANDS)
    command = COMMANDS[name]

    def call() -> int:
        options = import_module(f"millrace.{name}.arguments").parser().parse_args(arguments[1:])
        require(f"millrace {name}", *command.needs)
        main = import_module(f"millrace.{name}.command").main
        code: int = main(options, plain(stderr=True), output()) if "rich" in command.needs else main(options)
        return code

    return reported(f"millrace {name}", call, command.failed)


def main() -> NoReturn:
    sys.exit(reported("millrace", lambda: run(sys.argv[1:])))


if __name__ == "__main__":
    main()
