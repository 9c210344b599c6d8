"""The loads: wrk for HTTP/1.1, h2load for HTTP/2. One round asks a server for a second, as fast as it answers."""

from __future__ import annotations

import re
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchlib.http.servers import H2, H2_TLS, Server
from millrace.common.failure import Failure
from millrace.common.process import ending

SECONDS = 1
DEPTH = 10  # requests of one connection at a time, in HTTP/2

# wrk calls it at its end; times are in microseconds.
_DONE = """\
done = function(summary, latency, requests)
    local e = summary.errors
    io.write(string.format("%d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50),
        latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def measure(server: Server, path: str, connections: int) -> dict[str, float]:
    """The counters of one round."""
    load = _h2load if server.how in (H2, H2_TLS) else _wrk
    used, own = server.processor_time(), _of_children()
    requests, seconds, p50, p99 = load(server.url(path), connections)
    used, own = server.processor_time() - used, _of_children() - own
    return {
        "requests_per_second": requests / seconds,
        "processor_us_per_request": used * 1e6 / requests,
        "p50_us": p50,
        "p99_us": p99,
        "load_processors": own / seconds,
    }


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: Sequence[str]) -> str:
    """Returns what a program prints."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if ended.returncode:
        raise Failure(f"{' '.join(command)}: {ending(ended.returncode)}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def _wrk(url: str, connections: int) -> tuple[int, float, float, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_DONE)
        script.flush()
        said = run(["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "-s", script.name, url])
    requests, duration, p50, p99, errors = map(int, said.splitlines()[-1].split())
    if errors or not requests:
        raise Failure(f"{url}: wrk counts {errors} errors, and {requests} requests")
    return requests, duration / 1e6, p50, p99


def _h2load(url: str, connections: int) -> tuple[int, float, float, float]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = ["h2load", "-t1", f"-c{connections}", f"-m{DEPTH}", f"-D{SECONDS}", f"--log-file={log}", url]
        said = run(command)
        # A line has the begin of a request, its status, and its microseconds.
        times = sorted(int(line.split()[2]) for line in log.read_text().splitlines())
    done = re.search(r"(\d+) done, (\d+) succeeded, (\d+) failed", said)
    seconds = re.search(r"^finished in ([\d.]+)(m?)s", said, re.MULTILINE)
    if not done or not seconds or not times or int(done[2]) != int(done[1]):
        raise Failure(f"{url}: h2load had errors\n{said}")
    duration = float(seconds[1]) / (1000 if seconds[2] else 1)
    return int(done[1]), duration, times[len(times) // 2], times[len(times) * 99 // 100]
