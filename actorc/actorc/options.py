"""The command line as typed values.

A run has settings that hold for all of it (`Options`) and one or more `Job`s, each of which makes one file of another.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from actorc import __version__
from actorc.driver import BACKENDS
from actorc.outputs import STANDARD, descriptor, identifier_path, is_special
from actorc.records import dataclass

TYPE_CHECKING = False  # see records.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

EXIT_USAGE = 100
FORMATS = ("text", "json", "sarif")
COLOUR_CHOICES = ("auto", "always", "never")


@dataclass(frozen=True, slots=True)
class Job:
    input: str
    output: str
    depfile: str | None


@dataclass(frozen=True, slots=True)
class Options:
    jobs: tuple[Job, ...]
    backend: str
    show_warnings: bool
    generate_probes: bool  # state machines call the program's fdb_probe_actor_... functions
    nodiscard: bool  # the C++ compiler warns of calls that discard the future
    processes: int = 1
    format: str = FORMATS[0]
    colour: str = COLOUR_CHOICES[0]
    frames: tuple[str, ...] = ()  # the files of --frames; then there are no jobs
    compiler_flags: tuple[str, ...] | None = None  # those after `--`; None: there is no `--`


class Parser(argparse.ArgumentParser):
    """Wrong arguments end the program with EXIT_USAGE."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


class _Explain(argparse.Action):
    """`--explain [CODE ...]`: prints and exits, whatever else the command line says."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        from actorc.report import explain  # imported here: the table of faults is not needed to read a command line

        texts = []
        for code in values or ["all"]:
            text = explain.listing() if code.lower() == "all" else explain.explanation(code)
            if text is None:
                message = f"actorc: there is no code `{code}`; the codes are\n\n{explain.listing()}"
                print(message, file=sys.stderr, end="")
                parser.exit(EXIT_USAGE)
            texts.append(text)
        print("\n".join(texts), end="")
        parser.exit()


def parse(argv: list[str] | None = None) -> Options:
    """Reads the arguments; exits with EXIT_USAGE if they are wrong."""
    parser = _make_parser()
    words, flags = before_flags(sys.argv[1:] if argv is None else argv, "--frames")
    arguments = parser.parse_args(words)
    if flags is not None and not arguments.frames:
        parser.error("flags after `--` are for the C++ compiler of --frames")
    if arguments.frames:
        return _frames(parser, arguments, flags)
    if arguments.jobs is not None and not arguments.batch:
        parser.error("--jobs is for --batch")
    jobs = _batch(parser, arguments) if arguments.batch else _single(parser, arguments)
    if arguments.generate_probes and arguments.backend != "state-machine":
        parser.error("--generate-probes is for --backend state-machine: a coroutine cannot observe that it is resumed")
    diagnosed = not arguments.disable_diagnostics
    return Options(
        jobs,
        backend=arguments.backend,
        show_warnings=diagnosed,
        generate_probes=arguments.generate_probes,
        nodiscard=diagnosed,
        processes=arguments.jobs or 1,
        format=arguments.format,
        colour=arguments.color,
    )


def before_flags(argv: Sequence[str], option: str) -> tuple[Sequence[str], tuple[str, ...] | None]:
    """With an option that compiles, what follows `--` are flags of the C++ compiler."""
    if option not in argv or "--" not in argv:
        return argv, None
    end = argv.index("--")
    return argv[:end], tuple(argv[end + 1 :])


def _frames(parser: Parser, arguments: argparse.Namespace, flags: tuple[str, ...] | None) -> Options:
    if not arguments.files:
        parser.error("--frames needs a FILE")
    others = ("batch", "depfile", "jobs", "generate_probes")
    if any(getattr(arguments, name) for name in others) or arguments.backend != BACKENDS[0]:
        parser.error("--frames compiles with every back end and writes no file: it takes --format and nothing else")
    if arguments.format == "sarif":
        parser.error("--frames prints text or json: sarif is for messages")
    files = tuple(path for argument in arguments.files for path in _listed(parser, argument))
    if STANDARD in files:
        parser.error("--frames takes files: `-` is for one INPUT and OUTPUT")
    return Options((), BACKENDS[0], True, False, True, format=arguments.format, frames=files, compiler_flags=flags)


def _single(parser: Parser, arguments: argparse.Namespace) -> tuple[Job, ...]:
    if len(arguments.files) != 2:
        parser.error("INPUT and OUTPUT are needed" if len(arguments.files) < 2 else "more than INPUT and OUTPUT")
    source, output = (
        STANDARD if descriptor(path) == number else path for number, path in enumerate(arguments.files)
    )  # /dev/stdin is 0, /dev/stdout 1
    if arguments.depfile == STANDARD:
        parser.error("--depfile needs a file: `-` is none")
    if STANDARD in (source, output):
        if arguments.depfile is not None:
            parser.error("--depfile writes a rule about files, and `-` is none: name both INPUT and OUTPUT")
        if arguments.generate_probes:
            parser.error("--generate-probes names actors by their file, and `-` is none: name both INPUT and OUTPUT")
    if output == STANDARD and arguments.format != "text":
        parser.error(f"--format {arguments.format} prints on standard output, and so does OUTPUT `-`: name a file")
    job = Job(source, output, arguments.depfile)
    _require_apart(parser, (job,))
    return (job,)


def _batch(parser: Parser, arguments: argparse.Namespace) -> tuple[Job, ...]:
    if arguments.depfile is not None:
        parser.error("--depfile is for one file; with --batch, let each OUTPUT depend on its INPUT and on actorc")
    paths = [path for argument in arguments.files for path in _listed(parser, argument)]
    if STANDARD in paths:
        parser.error("--batch takes files: `-` is for one INPUT and OUTPUT")
    if not paths or len(paths) % 2:
        parser.error(f"--batch needs pairs of INPUT and OUTPUT, and these are {len(paths)} paths")
    jobs = tuple(Job(*pair, None) for pair in zip(paths[::2], paths[1::2], strict=True))
    _require_apart(parser, jobs)
    return jobs


def _listed(parser: Parser, argument: str) -> list[str]:
    """`@FILE` stands for the lines of FILE."""
    if not argument.startswith("@"):
        return [argument]
    try:
        with open(argument[1:], encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
            if "\0" in text:
                parser.error(f"{argument[1:]}: this is no list of paths, one a line")
            return [line for line in text.splitlines() if line]
    except OSError as error:
        parser.error(f"{argument[1:]}: {error.strerror}")


def _require_apart(parser: Parser, jobs: tuple[Job, ...]) -> None:
    """No file is written twice, or written and read."""
    inputs = {os.path.realpath(job.input) for job in jobs}
    written: set[str] = set()
    for job in jobs:
        for path in _outputs(job):
            if is_special(path):
                continue
            output = os.path.realpath(path)
            if output in inputs:
                parser.error(f"{path}: OUTPUT is the same file as INPUT")
            if output in written:
                parser.error(f"{path}: two files have the same OUTPUT")
            written.add(output)


def _outputs(job: Job) -> list[str]:
    beside = [] if is_special(job.output) else [identifier_path(job.output)]
    return [job.output, *beside, *([job.depfile] if job.depfile is not None else [])]


def process_count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError
    return count


process_count.__name__ = "number of processes"  # as argparse names it in a message


def _make_parser() -> Parser:
    parser = Parser(
        prog="actorc",
        usage="actorc [options] INPUT OUTPUT\n"
        "       actorc --batch [options] INPUT OUTPUT [INPUT OUTPUT ...]\n"
        "       actorc --frames [--format FORMAT] FILE [FILE ...] [-- FLAGS OF THE C++ COMPILER]\n"
        "       actorc check [options] FILE [FILE ...] [-- FLAGS OF THE C++ COMPILER]\n"
        "       actorc lsp\n"
        "       actorc migrate --help",
        description="Compile actor sources to C++20.",
        allow_abbrev=False,
        # Without a width it imports shutil, and all its compressors, to read the terminal's width.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    parser.add_argument(
        "files",
        nargs="*",
        help="the .actor.cpp or .actor.h file, and the C++ file to write; `-` is standard input or output",
    )
    parser.add_argument(
        "--batch", action="store_true", help="compile many files; @FILE stands for the lines of FILE, a path each"
    )
    parser.add_argument("--jobs", type=process_count, metavar="N", help="processes for --batch (1)")
    parser.add_argument("--backend", choices=BACKENDS, default=BACKENDS[0], help="what to emit (%(default)s)")
    parser.add_argument(
        "--frames", action="store_true", help="show the size of actors and coroutines, and their members"
    )
    parser.add_argument("--depfile", metavar="FILE", help="write a make rule with everything OUTPUT depends on")
    parser.add_argument(
        "--generate-probes", action="store_true", help="call fdb_probe_actor_create, _destroy, _enter and _exit"
    )
    parser.add_argument("--disable-diagnostics", action="store_true", help="print no warnings, emit no [[nodiscard]]")
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="text on standard error, json or sarif on standard output"
    )
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format=json")
    parser.add_argument("--color", choices=COLOUR_CHOICES, default=COLOUR_CHOICES[0], help="of text (%(default)s)")
    parser.add_argument(
        "--explain",
        metavar="CODE",
        nargs="*",
        action=_Explain,
        help="print the pages about codes such as A0401, or list all",
    )
    parser.add_argument("--version", action="version", version=f"actorc {__version__}")
    return parser
