"""The command: `actorc INPUT OUTPUT`, see options.py for the rest; `actorc migrate`, see actorc_migrate/arguments.py;
`actorc check`, see actorc_check/arguments.py; and `actorc lsp`, see actorc_lsp/command.py.

Exit status: 0 success; 1 the source is wrong, or a file cannot be read or written, standard output among them; 3 a
fault of actorc itself; 100 wrong arguments. Of several files the worst counts.
"""

from __future__ import annotations

import gc
import os
import sys

from actorc.options import parse
from actorc.report.report import Reporter
from actorc.run import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_REJECTED, report_internal, run

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import NoReturn


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["migrate"]:  # a file of that name is `./migrate`
        from actorc_migrate.command import main as migrate  # late: a run that compiles needs none of it

        return migrate(words[1:])
    if words[:1] == ["check"]:
        from actorc_check.command import main as check  # late, as above

        return check(words[1:])
    if words[:1] == ["lsp"]:
        from actorc_lsp.command import main as serve  # late, as above

        return serve(words[1:])
    options = parse(words)
    if options.frames:
        from actorc_frames.command import run as show_frames  # late: it reads debug information

        return show_frames(options.frames, options.compiler_flags, as_json=options.format == "json")
    reporter = Reporter(options.format, options.colour, warnings=options.show_warnings)
    if len(options.jobs) == 1:
        status = run(options.jobs[0], options, reporter)
    else:
        from actorc.batch import run_all  # late: most runs have one file

        status = run_all(options, reporter)
    reporter.finish()
    return status


def command() -> NoReturn:
    """As a program of its own, which may leave its memory to the system."""
    gc.disable()  # a tree is no garbage before the end, and looking for some takes a tenth of the time
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: let writing fail instead of doing nothing
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8"))
    sys.unraisablehook = _unraisable
    try:
        status = _status()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        status = EXIT_REJECTED
        if not isinstance(error, BrokenPipeError):  # whoever reads has seen enough
            _say(f"actorc: {error.filename or 'what was to be printed cannot be written'}: {error.strerror}\n")
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
        _say("actorc: interrupted\n")
    os._exit(status)  # freeing each node takes another tenth


def _unraisable(raised: sys.UnraisableHookArgs) -> None:
    """Python would go on after an interrupt that comes while it calls a destructor."""
    if issubclass(raised.exc_type, KeyboardInterrupt):
        _say("actorc: interrupted\n")
        os._exit(EXIT_INTERRUPTED)
    sys.__unraisablehook__(raised)


def _status() -> int:
    try:
        return main()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 0
    except OSError:
        raise
    except Exception as error:
        if _follows_interrupt(error):
            raise KeyboardInterrupt from error
        report_internal(error, " ".join(sys.argv[1:2]), Reporter("text", "never", warnings=False))
        return EXIT_INTERNAL


def _follows_interrupt(error: BaseException) -> bool:
    """Whether it was raised while an interrupt was being handled, as by a pool that had not quite started."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _say(text: str) -> None:
    from contextlib import suppress  # late: nearly every run can print

    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


if __name__ == "__main__":
    command()
