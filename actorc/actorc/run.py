"""One job from file to file, whatever goes wrong on the way."""

from __future__ import annotations

import os

from actorc import outputs
from actorc.diagnostics import Diagnostics
from actorc.driver import Rejected, analyse, emitted
from actorc.identifiers import identifier_lines
from actorc.options import Job, Options
from actorc.report.failure import Failure
from actorc.report.report import Reporter
from actorc.source import STANDARD_INPUT, Source

EXIT_REJECTED = 1
EXIT_INTERNAL = 3
EXIT_INTERRUPTED = 130  # as a shell says it


def run(job: Job, options: Options, reporter: Reporter) -> int:
    """Compiles one file; returns the exit status. Whatever goes wrong, nothing stale is left."""
    status = EXIT_INTERNAL
    name = STANDARD_INPUT if job.input == outputs.STANDARD else job.input
    try:
        status = _run(job, options, reporter)
    except OSError as error:
        if job.output == outputs.STANDARD and error.filename is None:
            raise  # it cannot be written, as any text that the program prints
        status = EXIT_REJECTED
        reporter.fail(Failure(error.filename or name, "file", error.strerror or str(error)))
    except Exception as error:  # a traceback does not help the author of an actor
        report_internal(error, name, reporter)
    finally:
        if status != 0 and not outputs.is_special(job.output):
            outputs.remove(job.output)
            outputs.remove(outputs.identifier_path(job.output))
    return status


def _run(job: Job, options: Options, reporter: Reporter) -> int:
    source = Source.read(job.input)
    diagnostics = Diagnostics()
    try:
        file = analyse(source, diagnostics)
    except Rejected:
        return EXIT_REJECTED
    finally:
        reporter.add(source, diagnostics)
    is_special = outputs.is_special(job.output)
    named = job.input if is_special else job.output  # one of them says whether this is a header
    text = emitted(file, source, options.backend, named, nodiscard=options.nodiscard, probes=options.generate_probes)
    outputs.write(job.output, source.encode(text), read_only=True)
    if not is_special:
        outputs.write(outputs.identifier_path(job.output), source.encode(identifier_lines(file, source)))
    if job.depfile is not None:
        outputs.write(job.depfile, outputs.make_rule(job.input, job.output).encode())
    return 0


def report_internal(error: Exception, input_path: str, reporter: Reporter) -> None:
    import traceback  # imported here: a run that succeeds starts faster without it

    if os.environ.get("ACTORC_TRACEBACK") == "1":
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "an unknown place"
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    reporter.fail(
        Failure(input_path, "internal", f"internal error at {place}: {what}"),
        "actorc: this is a bug in actorc, not in your source; please report it together with what\n"
        "actorc: ACTORC_TRACEBACK=1 in the environment makes it print\n",
    )
