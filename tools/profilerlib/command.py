"""tools/profile: where the time of any program with Millrace goes."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from benchlib.profile import record, signals
from benchlib.profile.attribution import attribute
from benchlib.profile.causes import Attribution, read
from benchlib.profile.sampler import NAMES, Sampler, sampler
from benchlib.profile.samples import Profile
from common.arguments import CommandParser, UsageError
from common.failure import Failure
from common.files import check_result_file, default_file, write
from common.process import ending
from consolelib.client import SECONDS, Client, sockets_of
from profilerlib import steps
from profilerlib.report import Found, page, printed

DESCRIPTION = """\
Runs a program, or looks at one that runs, and says where its time goes: by cause (as
tools/bench profile does), by actor with those that await it, in the run queue by
priority, and on request how much each actor allocates. Writes one HTML page with the
tables and flame graphs."""

EPILOG = """\
perf takes the samples; where it is not allowed, the program samples itself by a signal.
The times of steps come from the program: of PROGRAM when its loop ends (so it has to
end by itself, not by a signal that kills it). With --pid they, and samples without
perf, need a program that has called console::listen() (net/console.h). Frame pointers
(-fno-omit-frame-pointer) make stacks whole.

Exit code: that of PROGRAM; 1 nothing could be measured, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    options = parse(arguments)
    check_result_file(options.html)
    attribution = Attribution(read())
    tool = sampler(options.sampler)
    problems: list[str] = []
    how = [tool.how]
    code = 0
    if options.pid:
        profile, texts = of_process(options, tool, problems)
    else:
        code, profile, texts = of_command(options, tool)
        if not texts:
            problems.append("the program has written no times of steps: none of its loops has come to its end")
        if code:
            how.append(f"the program ended with {ending(code)}")
    if options.allocations:
        how.append("allocations were counted, which makes each one several times as slow")
    attributed = attribute(profile, attribution, 1000 * tool.period * profile.total, "ms")
    spent = attributed if attributed.samples else None
    if not spent:
        problems.append("no sample was taken of the program's own code")
    found_steps = steps.read(texts) if texts else None
    title = f"Process {options.pid}" if options.pid else f"Profile of {Path(options.command[0]).name}"
    found = Found(title, "; ".join(how), attribution.order, spent, found_steps, problems)
    for part in printed(found, not out.is_terminal):
        out.print(part, soft_wrap=isinstance(part, str))
    if not spent and not found_steps:
        raise Failure("tools/profile: nothing was measured")
    write(options.html, page(found))
    out.print(f"page: {options.html}", soft_wrap=True)
    return code if code >= 0 else 128 - code


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser("tools/profile", DESCRIPTION, EPILOG)
    parser.add_argument("--pid", type=int, metavar="PID", help="look at this process instead")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long, with --pid; default: 5")
    parser.add_argument("--with", dest="sampler", choices=NAMES, help="default: perf, if it works")
    parser.add_argument("--allocations", action="store_true", help="count them by actor")
    parser.add_argument("--html", type=Path, default=default_file("profile.html"), metavar="FILE", help="the page")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGS]", help="what to run")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command.pop(0)
    if options.pid is not None and options.pid <= 0:
        raise UsageError("--pid must be the number of a process")
    if bool(options.command) == bool(options.pid):
        raise UsageError("either a PROGRAM or --pid (see tools/profile --help)")
    if not 0 < options.seconds <= 60:
        raise UsageError("--seconds must be more than 0, and at most 60")
    if options.command and not shutil.which(options.command[0]):
        raise UsageError(f"there is no program {options.command[0]}")
    return options


def of_command(options: argparse.Namespace, tool: Sampler) -> tuple[int, Profile, list[str]]:
    """The exit code, samples, and times of steps."""

    def on_line(line: str) -> None:
        print(line, file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as name:
        variables = {"MILLRACE_PROFILE": name}
        if options.allocations:
            variables["MILLRACE_PROFILE_ALLOCATIONS"] = "1"
        code, profile = tool.run(options.command, on_line, variables, Path.cwd())
        return code, profile, [file.read_text(encoding="utf-8") for file in sorted(Path(name).glob("*.json"))]


def of_process(options: argparse.Namespace, tool: Sampler, problems: list[str]) -> tuple[Profile, list[str]]:
    query = f"seconds={options.seconds:g}"
    try:
        clients = [Client(path) for path in sockets_of(str(options.pid))]
    except UsageError as error:
        if not Path(f"/proc/{options.pid}").exists():
            raise
        problems.append(f"no times of steps: {error}")
        clients = []

    def ask(client: Client, what: str) -> bytes:
        try:
            return client.get(f"/{what}", options.seconds + SECONDS)
        except Failure as error:
            problems.append(str(error))
            return b""

    def sampled() -> Profile:
        if tool.name == "signal":  # one client samples all threads of the process
            body = ask(clients[0], f"samples?{query}") if clients else b""
            return signals.answered(body) if body else Profile()
        lines: list[str] = []
        what = ["-p", str(options.pid), "--", "sleep", f"{options.seconds:g}"]
        code, profile = record.record(what, lines.append)
        if code and not profile.weights:
            problems.append("\n".join([*lines[-5:], f"perf record: {ending(code)}"]))
        return profile

    of_steps = f"profile?{query}" + ("&allocations=1" if options.allocations else "")
    with ThreadPoolExecutor(len(clients) or 1) as pool:
        answers = [pool.submit(ask, client, of_steps) for client in clients]
        profile = sampled()
        return profile, [text for answer in answers if (text := answer.result().decode())]
