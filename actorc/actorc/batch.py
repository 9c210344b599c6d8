"""Compiles many files in one run. A file with errors does not stop the others."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from itertools import repeat

from actorc.options import Job, Options
from actorc.records import replace
from actorc.report.failure import Failure
from actorc.report.report import Findings, Reporter, wants_colour
from actorc.run import run

_FILES_AT_ONCE = 4  # jobs that one process gets at a time
_FILES_BETWEEN_COLLECTIONS = 20


def run_all(options: Options, reporter: Reporter) -> int:
    """Compiles the jobs; returns the worst exit status. Reports file by file, in the order of the jobs."""
    if options.processes == 1:
        return max(_run_one_by_one(options, reporter))
    status = 0
    colour = "always" if wants_colour(options.colour, sys.stderr) else "never"
    settings = replace(options, colour=colour, jobs=())
    with ProcessPoolExecutor(options.processes) as pool:
        for one, printed, findings, failures in pool.map(
            _run_apart, options.jobs, repeat(settings), chunksize=_FILES_AT_ONCE
        ):
            sys.stderr.write(printed)
            reporter.extend(findings, failures)
            status = max(status, one)
    return status


def _run_one_by_one(options: Options, reporter: Reporter) -> Iterator[int]:
    gc.freeze()  # loaded modules stay in use: the garbage collector need not scan them
    for number, job in enumerate(options.jobs, 1):
        yield run(job, options, reporter)
        if number % _FILES_BETWEEN_COLLECTIONS == 0:
            gc.collect()


def _run_apart(job: Job, options: Options) -> tuple[int, str, Findings, list[Failure]]:
    """Runs in a worker process. Returns the status, the text to print, the diagnostics, and the failures."""
    reporter = Reporter(options.format, options.colour, warnings=options.show_warnings)
    printed = io.StringIO()
    with redirect_stderr(printed):
        status = run(job, options, reporter)
    return status, printed.getvalue(), reporter.findings, reporter.failures
