"""The rows and tables of tools/bench http."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rich.console import Console

from benchlib.http.command import every_row, is_there, name_of
from benchlib.http.servers import OURS, Place
from benchlib.http.tables import tables


def result(name: str, **counters: float) -> dict[str, Any]:
    return {"name": name, "run_name": name, "run_type": "iteration", **counters}


def printed(results: list[dict[str, Any]]) -> list[list[str]]:
    """The cells of each line."""
    out = io.StringIO()
    console = Console(file=out, width=200, color_system=None)
    for table in tables(results, plain=True):
        console.print(table)
    lines = [line.strip() for line in out.getvalue().splitlines()]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]


def test_each_server_has_the_rows_that_it_can_answer() -> None:
    rows = {name_of(row) for row in every_row()}
    assert {"http/memory/50/hyper", "http/file-64k/50/nginx", "http/memory-tls/50/go"} <= rows
    assert {"http/memory-h2/50/nghttpd", "http/idle/5000/millrace", "http/client/50/curl"} <= rows
    assert "http/file-612/50/hyper" not in rows  # it has no files
    assert "http/memory-h2/50/go" not in rows  # only over TLS


def test_a_program_that_was_not_built_has_no_rows(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, tmp_path)
    assert not is_there(("memory", 50, "go"), place)
    assert not is_there(("client", 50, OURS), place)
    (tmp_path / "http_go").write_text("#!/bin/sh\n")
    (tmp_path / "http_go").chmod(0o755)
    assert is_there(("memory", 50, "go"), place)
    assert [file.name for file in tmp_path.iterdir()] == ["http_go"]


def test_the_median_of_each_server_stands_beside_ours() -> None:
    rounds = [(100.0, 10.0), (120.0, 8.0), (900.0, 1.0)]
    results = [
        result("http/file-612/50/millrace", requests_per_second=rate, processor_us_per_request=us, p50_us=1, p99_us=2)
        | {"allocs_per_request": 2.5}
        for rate, us in rounds
    ]
    results.append(result("http/file-612/50/nginx", requests_per_second=60, processor_us_per_request=16))
    results.append(result("http/idle/5000/nginx", bytes_per_connection=500))
    lines = printed(results)
    headings = lines[1]
    ours, theirs = (
        dict(zip(headings, line, strict=True))
        for line in lines
        if line[1:2] in (["millrace"], ["nginx"]) and line[0].startswith("http/file")
    )
    assert (ours["requests/s"], ours["processor us"], ours["ours / its"], ours["allocs"]) == ("120", "8.00", "-", "2.5")
    assert (theirs["ours / its"], theirs["its / ours"], theirs["p50 us"]) == ("2.00", "2.00", "-")
    assert lines[-1] == ["http/idle/5000", "nginx", "500", "-"]
