"""millrace simulate: runs seeds, shrinks a failure, or says what all runs have shown."""

from __future__ import annotations

import argparse

from rich.console import Console

from millrace.simulate import run_command, shrink_command, summary_command

_COMMANDS = {"run": run_command.main, "shrink": shrink_command.main, "summary": summary_command.main}


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    return _COMMANDS[options.what](options, console, out)
