"""What all runs have shown, on the terminal and as a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from millrace.common.arguments import UsageError
from millrace.common.console import plain
from millrace.simulate import summary_command
from millrace.simulate.arguments import parser
from millrace.simulate.ledger import Ledger, opened
from millrace.simulate.page import page
from millrace.simulate.program import Program
from millrace.simulate.results import Result
from millrace.simulate.summary import summary

FAULTS = ["clog", "powerLoss"]
PROBES = ["x.cpp:1 seen", "x.cpp:2 unseen"]


def program(name: str = "p", build: str = "h1", probes: list[str] = PROBES) -> Program:
    return Program(Path(name), build, ["good", "bad"], FAULTS, probes)


def result(seed: int, digest: str = "d", signature: str = "", machine: str = "m") -> Result:
    return Result(seed, digest, 10, 30.0, {"clog": 2}, PROBES[:1], signature, f"<text> of {seed}", machine)


def run(ledger: Ledger, test: str, *results: Result, build: str = "h1") -> int:
    number = ledger.begin(program(build=build), test, "r", range(9))
    for each in results:
        ledger.add(number, each)
    ledger.end(number)
    return number


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    with opened(tmp_path / "ledger") as found:
        run(found, "good", result(1), result(2))
        run(found, "bad", result(3, signature="b"), result(5, signature="a"), result(4, signature="a"))
        run(found, "bad", result(5, signature="a"), result(9))
    return tmp_path / "ledger"


def test_of_all_runs(ledger: Path) -> None:
    with opened(ledger) as found:
        every = summary(found)
        bad = summary(found, "bad")
    assert [(each.name, each.runs, each.seeds, each.seconds, each.failed) for each in every.tests] == [
        ("bad", 2, 5, 150, 4),
        ("good", 1, 2, 60, 0),
    ]
    assert (every.faults["clog"], every.in_seeds["clog"], every.never()) == (14, 7, ["powerLoss"])
    assert (every.probes[PROBES[0]], every.probes[PROBES[1]], every.all_probes) == (7, 0, PROBES)
    failed = [(each.signature, each.count, each.seed, each.text) for each in every.failed]
    assert failed == [("a", 2, 4, "<text> of 4"), ("b", 1, 3, "<text> of 3")]
    assert [each.name for each in bad.tests] == ["bad"]
    assert bad.faults["clog"] == 10
    assert every.differences == []


def test_a_later_result_of_a_seed_counts(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as found:
        run(found, "good", result(1), result(1, digest="", signature="exit code #"))
        [test] = summary(found).tests
    assert (test.seeds, test.failed) == (1, 1)


def test_the_ledger_that_no_option_names_keeps_the_last_runs(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millrace.simulate.ledger.KEPT_RUNS", 2)

    def kept() -> list[tuple[int, int]]:
        with opened(ledger) as found:
            run(found, "good", result(7))
            return found.connection.execute("SELECT run, count(*) FROM seed GROUP BY run").fetchall()

    assert kept() == [(1, 2), (2, 3), (3, 2), (4, 1)]
    monkeypatch.setattr("millrace.simulate.ledger.LEDGER", ledger)
    assert kept() == [(4, 1), (5, 1)]
    with opened(ledger) as found:
        assert found.connection.execute("SELECT id FROM run").fetchall() == [(4,), (5,)]


def test_runs_that_differ(ledger: Path) -> None:
    with opened(ledger) as found:
        assert found.differences(run(found, "good", result(1))) == []
        assert found.differences(run(found, "good", result(1, "other"), build="h2")) == [], "another program"
        assert found.differences(run(found, "bad", result(1, "other"))) == [], "another test"
        assert found.differences(run(found, "good", result(1, ""))) == [], "one that did not live"
        [difference] = found.differences(run(found, "good", result(1, "other", machine="n"), result(2)))
        assert str(difference) == "seed 1 of good, program h1: d (m) and other (n)"
        assert found.differences(run(found, "good", result(2))) == [], "of earlier runs"
        assert summary(found).differences == [difference]
        assert summary(found, "bad").differences == []


def test_a_program_without_probes_has_no_table_of_them(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as found:
        found.end(found.begin(program(probes=[]), "good", "r", range(1)))
        text = page(summary(found))
    assert "These simulations have no probes." in text
    assert 'id="seen-table"' not in text
    out = plain(width=200, no_color=True)
    with out.capture() as printed:
        summary_command.main(parser().parse_args(["summary", "--ledger", str(tmp_path / "ledger")]), out, out)
    assert "good" in printed.get() and "probe" not in printed.get()


def test_a_ledger_of_another_kind(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger") as found:
        found.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(UsageError, match="is no ledger of this millrace simulate"), opened(tmp_path / "ledger"):
        pass
    with pytest.raises(UsageError, match="cannot write the ledger"), opened(tmp_path / "nowhere" / "ledger"):
        pass


def test_the_command(simulate: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    assert simulate("summary").stderr.startswith("millrace simulate: there is no ledger ")
    simulate("run", "good", "--seeds", "0..9")
    simulate("run", "bad", "--seeds", "3..4")
    done = simulate("summary")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\| good +\| +1 \| +10 \| +15\.0 s \| +0 \|", done.stdout)
    assert "never injected: diskFull, diskLostWrite, powerLoss, processKill" in done.stdout
    assert re.search(r"\| x\.cpp:2 never seen +\| +never \|", done.stdout)
    assert re.search(
        r"bad, 2 seeds: lost # records\n  seed 3: lost 3 records\n  again: \S+ --run bad --seeds 3\n", done.stdout
    )
    assert "did you mean good?" in simulate("summary", "god").stderr
    assert simulate("summary", "--html", tmp_path / "page.html").returncode == 0
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert "cannot write" in simulate("summary", "--html", tmp_path / "no" / "page.html").stderr


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(ledger: Path, tmp_path: Path, width: int) -> None:
    """Nothing goes wrong, nothing is too wide, and a click sorts."""
    browser = shutil.which("chromium-headless-shell")
    assert browser, "tools/setup tests installs it"
    probe = """<script>
    const errors = [];
    addEventListener("error", (event) => errors.push(event.message));
    addEventListener("load", () => setTimeout(() => {
        const heading = [...document.querySelectorAll("th")].find((each) => each.textContent === "smallest");
        heading.querySelector("button").click();
        const cell = (row) => row.cells[heading.cellIndex].textContent;
        const rows = [...heading.closest("table").tBodies[0].rows].map(cell);
        document.body.dataset.probe = [errors.join(), document.documentElement.scrollWidth, rows.join()].join(";");
    }, 100));
    </script>"""
    with opened(ledger) as found:
        text = page(summary(found))
    assert "http://" not in text and "https://" not in text
    assert "&lt;text&gt; of 4" in text
    assert "Never injected: powerLoss." in text
    file = tmp_path / "page.html"
    file.write_text(text.replace("<head>", f"<head>{probe}", 1))
    command = [browser, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},2000"]
    command += ["--virtual-time-budget=5000", f"--user-data-dir={tmp_path}/profile", "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    shown = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert shown
    errors, wide, rows = shown[1].split(";")
    assert (errors, rows) in [("", "3,4"), ("", "4,3")]
    assert int(wide) <= width
