"""The arguments of millrace profile."""

from __future__ import annotations

import argparse
from pathlib import Path

from millrace.common.arguments import CommandParser

SAMPLERS = ("perf", "signal")

DESCRIPTION = """\
Runs a program, or looks at one that runs, and says where its time goes: by cause, by
actor with those that await it, in the run queue by priority, and on request how much
each actor allocates. Writes one HTML page with the tables and flame graphs."""

EPILOG = """\
perf takes the samples; where it is not allowed, the program samples itself by a signal.
The times of steps come from the program: of PROGRAM when its loop ends (so it has to
end by itself, not by a signal that kills it). With --pid they, and samples without
perf, need a program that has called console::listen() (net/console.h). Frame pointers
(-fno-omit-frame-pointer) make stacks whole.

Exit code: that of PROGRAM; 1 nothing could be measured, 2 wrong arguments."""


def parser() -> CommandParser:
    result = CommandParser("millrace profile", DESCRIPTION, EPILOG)
    result.add_argument("--pid", type=int, metavar="PID", help="look at this process instead")
    result.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long, with --pid; default: 5")
    result.add_argument("--with", dest="sampler", choices=SAMPLERS, help="default: perf, if it works")
    result.add_argument("--allocations", action="store_true", help="count them by actor")
    html = Path("profile.html")
    result.add_argument("--html", type=Path, default=html, metavar="FILE", help=f"the page; default: {html}")
    result.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGS]", help="what to run")
    return result
