"""The command: `actorc INPUT OUTPUT`, see options.py for the rest; `actorc migrate`, see actorc_migrate/arguments.py;
`actorc check`, see actorc_check/arguments.py; and `actorc lsp`, see actorc_lsp/command.py.

Exit status: 0 success; 1 the source is wrong, or a file cannot be read or written, standard output among them; 3 a
fault of actorc itself; 100 wrong arguments. The exit status of several files is the worst of them.
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
        from actorc_migrate.command import main as migrate  # imported here: a run that compiles does not need it

        return migrate(words[1:])
    if words[:1] == ["check"]:
        from actorc_check.command import main as check  # late, as above

        return check(words[1:])
    if words[:1] == ["lsp"]:
        from actorc_lsp.command import main as serve  # late, as above

        return serve(words[1:])
    options = parse(words)
    if options.frames:
        from actorc_frames.command import run as show_frames  # imported here: it reads debug information

        return show_frames(options.frames, options.compiler_flags, as_json=options.format == "json")
    reporter = Reporter(options.format, options.colour, warnings=options.show_warnings)
    if len(options.jobs) == 1:
        status = run(options.jobs[0], options, reporter)
    else:
        from actorc.batch import run_all  # imported here: most runs have one file

        status = run_all(options, reporter)
    reporter.finish()
    return status


def command() -> NoReturn:
    """Runs as a process of its own, which does not free its memory at the end."""
    gc.disable()  # the tree is in use until the end, and collecting garbage takes a tenth of the time
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed: reading or writing must fail, not do nothing
            flags, mode = (os.O_WRONLY, "r") if name == "stdin" else (os.O_RDONLY, "w")
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    sys.unraisablehook = _unraisable
    try:
        status = _status()
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:  # pygls closes them when its client says exit
                stream.flush()
    except OSError as error:
        status = EXIT_REJECTED
        if not isinstance(error, BrokenPipeError):  # the reader has closed the pipe
            _say(f"actorc: {error.filename or 'the output cannot be written'}: {error.strerror}\n")
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
        _say("actorc: interrupted\n")
    os._exit(status)  # freeing each node would take another tenth


def _unraisable(raised: sys.UnraisableHookArgs) -> None:
    """Ends the program on an interrupt during a destructor, which Python itself ignores."""
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
    """Whether it was raised while an interrupt was handled, for example by a pool that was still starting."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _say(text: str) -> None:
    from contextlib import suppress  # imported here: nearly every run can print

    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


if __name__ == "__main__":
    command()
