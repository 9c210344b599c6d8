"""millrace profile: where the time of any program with Millrace goes."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from millrace.common.arguments import UsageError
from millrace.common.failure import Failure
from millrace.common.files import check_writable, write
from millrace.common.process import ending
from millrace.console.client import SECONDS, Client, sockets_of
from millrace.profile import record, signals, steps
from millrace.profile.attribution import attribute
from millrace.profile.causes import Attribution, read
from millrace.profile.report import Found, page, printed
from millrace.profile.sampler import Sampler, sampler
from millrace.profile.samples import Profile


def main(options: argparse.Namespace, console: Console, out: Console) -> int:
    check(options)
    check_writable(options.html)
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
        raise Failure("millrace profile: nothing was measured")
    write(options.html, page(found))
    out.print(f"page: {options.html}", soft_wrap=True)
    return code if code >= 0 else 128 - code


def check(options: argparse.Namespace) -> None:
    if options.command[:1] == ["--"]:
        options.command.pop(0)
    if options.pid is not None and options.pid <= 0:
        raise UsageError("--pid must be the number of a process")
    if bool(options.command) == bool(options.pid):
        raise UsageError("either a PROGRAM or --pid (see millrace profile --help)")
    if not 0 < options.seconds <= 60:
        raise UsageError("--seconds must be more than 0, and at most 60")
    if options.command and not shutil.which(options.command[0]):
        raise UsageError(f"there is no program {options.command[0]}")


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
