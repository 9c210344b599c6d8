"""tools/profile: where the time of any program with Millrace goes."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchlib.flame.stacks import Stacks
from benchlib.profile import record
from benchlib.profile.attribution import Spent, attribute
from benchlib.profile.causes import Attribution, read
from benchlib.profile.samples import Profile
from common.arguments import CommandParser, UsageError
from common.failure import Failure
from common.files import check_result_file, default_file, write
from common.process import ending, stream
from consolelib.client import SECONDS, Client, sockets_of
from profilerlib import signals, tasks
from profilerlib.report import Found, page, printed

DESCRIPTION = """\
Runs a program, or looks at one that runs, and says where its time goes: by cause (as
tools/bench profile does), by actor with those that await it, in the run queue by
priority, and on request how much each actor allocates. Writes one HTML page with the
tables and flame graphs."""

EPILOG = """\
perf takes the samples; where it is not allowed, the program samples itself by a signal.
The times of tasks come from the program: of PROGRAM when its loop ends (so it has to
end by itself, not by a signal that kills it). With --pid they, and samples without
perf, need a program that has called console::listen() (net/console.h). Frame pointers
(-fno-omit-frame-pointer) make stacks whole.

Exit code: that of PROGRAM; 1 nothing could be measured, 2 wrong arguments."""


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    options = parse(arguments)
    check_result_file(options.html)
    attribution = Attribution(read())
    why_not = record.why_not() if options.sampler in ("", "perf") else "--with signal"
    if why_not and options.sampler == "perf":
        raise Failure(f"tools/profile: {why_not}")
    problems: list[str] = []
    if options.pid:
        profile, period, texts, how = of_process(options, why_not, problems)
        code = 0
    else:
        profile, period, texts, how, code = of_command(options, why_not)
        if not texts:
            problems.append("the program has written no times of tasks: none of its loops has come to its end")
        if code:
            problems.append(f"the program ended with {ending(code)}")
    if options.allocations:
        problems.append("allocations were counted, which makes each one several times as slow")
    spent = spent_of(profile, period, attribution) if profile and profile.weights else None
    found_tasks = tasks.read(texts) if texts else None
    title = f"Process {options.pid}" if options.pid else f"Profile of {Path(options.command[0]).name}"
    found = Found(title, how, attribution.order, spent, found_tasks, problems)
    for part in printed(found, not out.is_terminal):
        out.print(part, soft_wrap=isinstance(part, str))
    if not spent and not found_tasks:
        raise Failure("tools/profile: nothing was measured")
    write(options.html, page(found))
    out.print(f"page: {options.html}", soft_wrap=True)
    return code if code >= 0 else 128 - code


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser("tools/profile", DESCRIPTION, EPILOG)
    parser.add_argument("--pid", type=int, metavar="PID", help="look at this process instead")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long, with --pid; default: 5")
    parser.add_argument(
        "--with", dest="sampler", choices=("perf", "signal"), default="", help="default: perf, if it works"
    )
    parser.add_argument("--allocations", action="store_true", help="count them by actor")
    parser.add_argument("--html", type=Path, default=default_file("profile.html"), metavar="FILE", help="the page")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGS]", help="what to run")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command.pop(0)
    if bool(options.command) == bool(options.pid):
        raise UsageError("either a PROGRAM or --pid (see tools/profile --help)")
    if not 0 < options.seconds <= 60:
        raise UsageError("--seconds must be more than 0, and at most 60")
    if options.command and not shutil.which(options.command[0]):
        raise UsageError(f"there is no program {options.command[0]}")
    return options


def of_command(options: argparse.Namespace, why_not: str | None) -> tuple[Profile | None, float, list[str], str, int]:
    """Samples, the seconds of each, times of tasks, how it was done, and the exit code."""

    def on_line(line: str) -> None:
        print(line, file=sys.stderr)

    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="millrace-profile-") as name:
        folder = Path(name)
        variables = {"MILLRACE_PROFILE": name}
        if options.allocations:
            variables["MILLRACE_PROFILE_ALLOCATIONS"] = "1"
        profile: Profile | None
        if why_not:
            variables["MILLRACE_PROFILE_SAMPLES"] = "1"
            code = stream(options.command, on_line, here, variables)
            profile = merged([signals.read(file) for file in sorted(folder.glob("*.samples"))])
            period, how = signals.PERIOD, f"sampled by a signal ({why_not})"
        else:
            code, profile = record.record_any(["--", *options.command], on_line, variables, here)
            period, how = 1 / record.FREQUENCY, f"perf, samples by the clock ({record.EVENT})"
        texts = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.json"))]
    return profile, period, texts, how, code


def of_process(
    options: argparse.Namespace, why_not: str | None, problems: list[str]
) -> tuple[Profile | None, float, list[str], str]:
    texts: list[str] = []
    errors: list[str] = []
    sampled: list[Profile] = []

    def ask(client: Client) -> None:
        try:
            query = f"seconds={options.seconds:g}" + ("&allocations=1" if options.allocations else "")
            texts.append(client.get(f"/profile?{query}", options.seconds + SECONDS).decode())
        except Failure as error:
            errors.append(str(error))

    def sample(client: Client) -> None:
        try:
            body = client.get(f"/samples?seconds={options.seconds:g}", options.seconds + SECONDS)
            sampled.append(signals.answered(body))
        except Failure as error:
            errors.append(str(error))

    try:
        clients = [Client(path) for path in sockets_of(str(options.pid))]
    except UsageError as error:
        if not Path(f"/proc/{options.pid}").exists():
            raise
        problems.append(f"no times of tasks: {error}")
        clients = []
    threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
    if why_not and clients:  # one samples all threads of the process
        threads.append(threading.Thread(target=sample, args=(clients[0],)))
    for thread in threads:
        thread.start()
    profile = None
    period, how = signals.PERIOD, f"no samples: {why_not}"
    if not why_not:
        lines: list[str] = []
        what = ["-p", str(options.pid), "--", "sleep", f"{options.seconds:g}"]
        code, profile = record.record_any(what, lines.append)
        period, how = 1 / record.FREQUENCY, f"perf, samples by the clock ({record.EVENT})"
        if code and not profile.weights:
            problems.append("\n".join([*lines[-5:], f"perf record: {ending(code)}"]))
    for thread in threads:
        thread.join()
    if sampled:
        profile, how = sampled[0], f"sampled by a signal ({why_not})"
    return profile, period, texts, how if not errors else f"{how}; {'; '.join(errors)}"


def merged(profiles: Sequence[Profile]) -> Profile:
    result = Profile("samples")
    for profile in profiles:
        for stack, weight in profile.weights.items():
            result.add(stack, weight)
    return result


def spent_of(profile: Profile, period: float, attribution: Attribution) -> Spent:
    """In milliseconds of the whole program."""
    spent = attribute(profile, attribution, 1000 * period * profile.total, 1)
    spent.unit = "ms"
    stacks = Stacks("ms")
    for stack, weight in spent.stacks:
        stacks.add(stack, weight)
    spent.stacks = stacks
    return spent
