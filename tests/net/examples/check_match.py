"""Runs match as a part of a pipeline in a shell: check_match.py MATCH."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import tempfile

[MATCH] = sys.argv[1:]


def shell(command: str, expected: str, **options: object) -> None:
    """Runs `command` with "match" for the program; its output and the exit status of the whole must be as expected."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'match() {{ "{MATCH}" "$@"; }}; {command}'],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, ""), (command, done)


def check_terminal() -> None:
    """The flags of a terminal stay as they were, also after match was killed; Ctrl-D ends the input."""
    try:
        control, terminal = pty.openpty()
    except OSError as error:
        print(f"skipped: no pseudoterminal: {error}")
        return
    before = fcntl.fcntl(terminal, fcntl.F_GETFL)
    for end in ("kill", "\x04"):
        with subprocess.Popen([MATCH, "b"], stdin=terminal, stdout=subprocess.PIPE, text=True) as program:
            os.write(control, b"abc\nxyz\nb")
            assert program.stdout
            assert program.stdout.readline() == "abc\n"  # although the output is a pipe, and more may come
            assert fcntl.fcntl(terminal, fcntl.F_GETFL) == before
            os.write(control, b"\n")
            assert program.stdout.readline() == "b\n"
            if end == "kill":
                program.kill()
            else:
                os.write(control, end.encode())
            assert program.wait(20) == (-signal.SIGKILL if end == "kill" else 0)
        assert fcntl.fcntl(terminal, fcntl.F_GETFL) == before


def main() -> None:
    shell("printf 'one\\ntwo\\nthree' | match t", "two\nthree\n")
    shell("(seq 1000000 || true) | match 99 | head -1", "99\n")
    shell("seq 200000 | match '' | wc -l", "200000\n")
    shell("seq 200000 | match '' | (sleep 0.1; md5sum) | cmp - <(seq 200000 | md5sum)", "")
    with tempfile.TemporaryDirectory() as folder:
        shell(
            "seq 30 > in; echo 0 > out; (read x; echo $x; match 2) < in >> out; cat out",
            "".join(f"{i}\n" for i in (0, 1, 2, 12, *range(20, 30))),
            cwd=folder,
        )
    shell("match a < /dev/null", "")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([MATCH, "a"], input="a\n", stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "No space left on device" in done.stderr) == (1, True), done
    check_terminal()


main()
