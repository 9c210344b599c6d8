"""check_http_peers.py PROGRAM FOLDER: what http_program finds in streams of bytes, beside Go's net/http; 20 restarts of
its server under ab and wrk. FOLDER is for what Go builds."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from check_http import check_restarts, check_same, generated, read_by

HERE = Path(__file__).resolve().parent


def check_go(program: str, folder: str) -> None:
    if not shutil.which("go"):
        print("skipped: Go is not installed; tools/setup http installs it")
        return
    go = str(Path(folder) / "http_streams_go")
    variables = {**os.environ, "GO111MODULE": "off"}
    subprocess.run(["go", "build", "-o", go, HERE / "http_streams.go"], env=variables, check=True)
    streams = generated()
    check_same(streams, read_by([program, "streams"], streams), read_by([go], streams))


def start(what: str, command: list[str], count: str, failures: str) -> Callable[[], None]:
    """Starts a client; returns what stops it and checks its report: `count` finds the number of its answers, `failures`
    the lines that count what has failed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def stop() -> None:
        process.send_signal(signal.SIGINT)
        report, _ = process.communicate(timeout=60)
        answers = re.search(count, report)
        assert answers, report
        failed = [line for line in re.findall(failures, report) if not line.endswith(" 0")]
        print(f"{what}: {answers[1]} answers, failed: {failed or 0}")
        assert int(answers[1]) > 100 and not failed, report

    return stop


def ab(port: int) -> Callable[[], None]:
    command = ["ab", "-q", "-k", "-c", "10", "-t", "300", "-n", "100000000", f"http://127.0.0.1:{port}/hello/you"]
    return start(
        "ab", command, r"Complete requests: +(\d+)", r"(?:Failed requests|Write errors|Non-2xx responses): +\d+"
    )


def wrk(port: int) -> Callable[[], None]:
    command = ["wrk", "-t", "1", "-c", "10", "-d", "300", f"http://127.0.0.1:{port}/hello/you"]
    return start("wrk", command, r"(\d+) requests in", r"Socket errors: .*|Non-2xx or 3xx responses: \d+")


def check_under_load(program: str) -> None:
    for each in (ab, wrk):
        if shutil.which(each.__name__):
            check_restarts(program, 20, each)
        else:
            print(f"skipped: {each.__name__} is not installed; tools/setup http installs it")


def main() -> int:
    program, folder = sys.argv[1:]
    check_go(program, folder)
    check_under_load(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
