"""Lets the debuggers show what is pending in a process and in its core file, and values.

check_debug.py PROGRAM [--only-pending]     # for a program without -g: no variables and values
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]
SCRIPTS = Path(__file__).resolve().parents[2] / "tools" / "millrace" / "debugger"
SOURCE = Path(__file__).with_name("debugged.actor.cpp")
VALUES = {
    "pendingFuture": r"Future, not ready, 1 future, 1 promise, computed by 0x\w+ coroutine answerLater",
    "invalidFuture": r"Future, invalid$",
    "readyFuture": r'Future, ready, 1 future, 0 promises = \{value = "ready"\}$',
    "failedFuture": r"Future, failed with end_of_stream, 1 future, 1 promise$",
    "openPromise": r"Promise, not ready, 3 futures, 2 promises$",
    "queuedStream": r"PromiseStream, 3 queued, 1 future, 1 promise = \{\[0\] = 3, \[1\] = 5, \[2\] = 8\}$",
    "queuedReader": r"FutureStream, 3 queued, 1 future, 1 promise = \{\[0\] = 3, \[1\] = 5, \[2\] = 8\}$",
    "text": r'"plain\\x0a" \(6 bytes\)$',
    "owned": r'Standalone = \{contents = "owned" \(5 bytes\)\}$',
    "numbers": r"VectorRef of 2 = \{13, 21\}$",
    "strings": r'Standalone = \{contents = VectorRef of 1 = \{"one" \(3 bytes\)\}\}$',
}


VALUES_OF_LLDB = {
    "pendingFuture": VALUES["pendingFuture"],
    "invalidFuture": r"Future, invalid$",
    "readyFuture": r'Future, ready, 1 future, 0 promises \{ value = "ready" \}$',
    "failedFuture": VALUES["failedFuture"],
    "openPromise": VALUES["openPromise"],
    "queuedStream": r"PromiseStream, 3 queued, 1 future, 1 promise \{ \[0\] = 3 \[1\] = 5 \[2\] = 8 \}$",
    "queuedReader": r"FutureStream, 3 queued, 1 future, 1 promise \{ \[0\] = 3 \[1\] = 5 \[2\] = 8 \}$",
    "text": VALUES["text"],
    "owned": r'\{ flow::StringRef = "owned" \(5 bytes\) ',
    "numbers": r"VectorRef of 2 \{ \[0\] = 13 \[1\] = 21 \}$",
    "strings": r'\{ flow::VectorRef<flow::StringRef> = VectorRef of 1 \{ \[0\] = "one" \(3 bytes\) \} ',
}


def line_of(text: str, nth: int = 0) -> str:
    lines = SOURCE.read_text().splitlines()
    return f"debugged.actor.cpp:{[i for i, line in enumerate(lines, 1) if text in line][nth]}"


def gdb(*commands: str, core: Path | None = None) -> str:
    arguments = ["gdb", "-nx", "-batch", PROGRAM, *([str(core)] if core else [])]
    arguments += ["-iex", "set debuginfod enabled off", "-x", str(SCRIPTS / "millrace_gdb.py")]
    for command in commands:
        arguments += ["-ex", command]
    run = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return run.stdout + run.stderr


def coroutine(name: str, wait: str, nth: int = 0, style: str = "coroutine") -> str:
    """The title of one that stands at the line with the text `wait`."""
    return f"{style} {name} at {line_of(wait, nth)}"


def check_pending(text: str) -> None:
    def one(pattern: str, count: int = 1) -> None:
        assert len(re.findall(pattern, text, re.MULTILINE)) == count, f"{pattern}\n\n{text}"

    delayed = line_of("choose {")
    answers = coroutine("answerLater", "of the wait of answerLater")
    one(r"^17 computations are pending$")
    one(rf"^0x\w+ {answers} waits for actor askTwice at {delayed}$")
    one(
        rf"^  0x\w+ actor askTwice at {delayed} waits for one of: {answers}; "
        r"a delay until \S+ \(1000\.5 s after its loop's last turn\)$"
    )
    one(rf"^    0x\w+ {answers} waits for a promise that 2 hold \(0x\w+\)$")
    one(
        rf"^0x\w+ actor readOne at {line_of('waitNext(')} waits for a stream with 1 sender \(\w+\), "
        rf"to which {coroutine('sendLater', 'co_await go;')} refers$"
    )
    one(rf"^0x\w+ actor holdLock at {line_of('Never()')} waits for what is never ready ")
    one(
        rf"^0x\w+ actor holdLock at {line_of('mutex->lock()')} waits for Semaphore::Acquire "
        r"\(\*\(flow::Semaphore::Acquire\*\)0x\w+\), "
        rf"held by actor holdLock at {line_of('Never()')}$"
    )
    one(rf'^0x\w+ fiber "sleeper" at {line_of("fiber::sleep")} waits for a delay until ')
    one(rf"^0x\w+ {coroutine('waitLarge', 'co_await go;', 3)} waits for a promise ")  # beyond the size classes
    below = coroutine("taskBelow", "of the wait of taskBelow", style="task")
    fork = coroutine("forkBelow", "co_await go;", 2, style="task")
    one(rf"^  0x\w+ {coroutine('taskWaits', 'co_await taskBelow', style='task')} waits for {below}$")
    one(rf"^    0x\w+ {below} waits for a promise ")
    one(rf"^0x\w+ {fork} waits for a promise ")
    one(rf"^  0x\w+ {coroutine('taskJoins', 'destroyForks', 1, style='task')} waits for the end of 2 children$")
    one(rf"^    0x\w+ {fork} waits for a promise ", 2)
    assert "Error" not in text, text


def check_stack(text: str) -> None:
    shown = [re.sub(r"0x\w+", "*", line) for line in text.splitlines() if "waits for" in line or "awaited by" in line]
    answers = coroutine("answerLater", "of the wait of answerLater")
    assert shown[0].startswith(f"{answers} waits for a promise"), text
    assert shown[1] == f"  awaited by * actor askTwice at {line_of('choose {')}", text
    assert shown[2:] == [f"  awaited by * {answers}"], text


def innermost(text: str) -> str:
    found = re.search(r"^    (0x\w+) coroutine answerLater[^;]* promise", text, re.MULTILINE)
    assert found, text
    return found[1]


def asking(text: str) -> str:
    found = re.search(r"^  (0x\w+) actor askTwice", text, re.MULTILINE)
    assert found, text
    return found[1]


def check_variables(text: str) -> None:
    assert re.search(r"^    go = Future, ready, .*\n    question = Future, not ready, ", text, re.MULTILINE), text


def check_values(text: str) -> None:
    shown = re.findall(r"^\$\d+ = (.*)$", text, re.MULTILINE)
    assert len(shown) == len(VALUES), text
    for (name, pattern), value in zip(VALUES.items(), shown, strict=True):
        assert re.match(pattern, value), f"{name}: {value}"


def check_only_pending(core: Path) -> None:
    check_pending(gdb("run", "flow pending", f"generate-core-file {core}", "kill").partition("Saved corefile")[0])
    if shutil.which("lldb-19"):
        check_pending(lldb("flow pending", core=core))


def check_gdb(core: Path) -> None:
    prints = [f"print {name}" for name in VALUES]
    live = gdb(
        "run", "flow pending", f"generate-core-file {core}", *prints, "flow pending 2", "flow pending x",
        "flow stack", "flow stack 17", "flow stack openPromise", "fibers", "kill"
    )  # fmt: skip
    check_pending(live.partition("Saved corefile")[0])
    check_values(live)
    assert re.search(r"^ +1 x coroutine answerLater.* waits for a promise$", live, re.MULTILINE), live
    assert "the first 2:\n" in live, live
    assert "'x' is no number of computations" in live, live
    assert "write flow stack FRAME" in live, live
    assert "0x11 is no frame of a pending computation" in live, live
    assert "no computation stands behind openPromise" in live, live
    assert 'fiber 1 "sleeper"' in live, live
    dead = gdb("flow pending", *prints, core=core)
    check_pending(dead)
    check_values(dead)
    check_stack(gdb(f"flow stack {innermost(dead)}", core=core))
    check_variables(gdb(f"flow stack {asking(dead)}", core=core))
    chain = gdb("flow stack pendingFuture", core=core)
    assert re.search("coroutine answerLater.* waits for actor askTwice", chain), chain
    assert "there is no process and no core file" in gdb("flow pending")


def lldb(*commands: str, core: Path | None = None) -> str:
    """Of the process that has stopped, or of the core file."""
    arguments = ["lldb-19", "--no-lldbinit", "-b", PROGRAM, "-O", "settings set symbols.enable-external-lookup false"]
    arguments += ["-o", f"command script import {SCRIPTS / 'millrace_lldb.py'}"]
    arguments += ["-c", str(core)] if core else ["-o", "process launch"]
    for command in commands:
        arguments += ["-o" if core else "-k", command]
    environment = {**os.environ, "DEBUGINFOD_URLS": ""}
    run = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                         check=False, env=environment)  # fmt: skip
    return re.sub(r"^\(lldb\).*\n", "", run.stdout, flags=re.MULTILINE) + run.stderr


def check_values_of_lldb(text: str) -> None:
    shown = re.split(r"^\(flow::.*?\) (?=\w|\{|\")", text, flags=re.MULTILINE)[1:]
    assert len(shown) == len(VALUES_OF_LLDB), text
    for (name, pattern), value in zip(VALUES_OF_LLDB.items(), shown, strict=True):
        assert re.match(pattern, " ".join(value.split())), f"{name}: {value}"


def why_no_terminal() -> str:
    try:
        ends = os.openpty()
    except OSError as error:
        return str(error)
    for end in ends:
        os.close(end)
    return ""


def check_lldb(core: Path) -> None:
    prints = [f"print {name}" for name in VALUES_OF_LLDB]
    if why := why_no_terminal():
        print(f"skipped: lldb starts no program without a terminal: {why}")
    else:
        check_pending(lldb("flow pending", "kill", "quit"))
    dead = lldb("flow pending", core=core)
    check_pending(dead)
    check_stack(lldb(f"flow stack {innermost(dead)}", core=core))
    check_variables(lldb(f"flow stack {asking(dead)}", core=core))
    check_values_of_lldb(lldb(*prints, core=core))
    others = ["flow stack pendingFuture", "flow pending x", "flow stack", "flow stack 17", "flow stack openPromise"]
    # An error would end the run.
    text = lldb(*(f"script lldb.debugger.HandleCommand({command!r})" for command in others), core=core)
    assert re.search("coroutine answerLater.* waits for actor askTwice", text), text
    assert "'x' is no number of computations" in text, text
    assert "write flow stack FRAME" in text, text
    assert "0x11 is no frame of a pending computation" in text, text
    assert "no computation stands behind openPromise" in text, text


def main() -> None:
    if not shutil.which("gdb"):
        print("skipped: there is no gdb")
        return
    with tempfile.TemporaryDirectory() as folder:
        core = Path(folder) / "core"
        if "--only-pending" in sys.argv:
            check_only_pending(core)
            return
        check_gdb(core)
        if shutil.which("lldb-19"):
            check_lldb(core)
        else:
            print("skipped: there is no lldb-19")


main()
