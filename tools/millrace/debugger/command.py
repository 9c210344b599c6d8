"""millrace debugger: prints the line for the start file of a debugger."""

from __future__ import annotations

import argparse
from pathlib import Path

COMMANDS = {"gdb": "source", "lldb": "command script import"}


def main(options: argparse.Namespace) -> int:
    script = Path(__file__).resolve().with_name(f"millrace_{options.debugger}.py")
    # lldb reads words, and takes quotes; gdb takes the rest of the line as it is.
    print(COMMANDS[options.debugger], f'"{script}"' if options.debugger == "lldb" else script)
    return 0
