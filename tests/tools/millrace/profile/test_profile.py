"""millrace profile without a program: what it reads and what it shows. With one: tests/tools/check_profile.py."""

from __future__ import annotations

import json
import re
import subprocess
from array import array
from pathlib import Path
from typing import Any

import pytest

from millrace.common.arguments import UsageError
from millrace.common.console import plain
from millrace.common.failure import Failure
from millrace.flame.stacks import Stacks
from millrace.profile import command, signals, steps
from millrace.profile.arguments import parser
from millrace.profile.attribution import Spent
from millrace.profile.report import Found, page, printed
from millrace.profile.samples import Place, Profile


def text(**more: Any) -> str:
    document = {
        "seconds": 2.0,
        "countsAllocations": True,
        "chains": [
            {"frames": ["serve", "answer"], "steps": 10, "seconds": 0.5, "allocations": 30},
            {"frames": ["answer"], "steps": 2, "seconds": 0.25, "allocations": 4},
            {"frames": [], "steps": 0, "seconds": 0.0, "allocations": 7},
        ],
        "delays": [
            {"priority": 7000, "steps": 4, "seconds": 0.008, "longest": 0.005, "below": [2, 1] + [0] * 19 + [1]}
        ],
        **more,
    }
    return json.dumps(document)


def test_the_tasks_of_several_loops_are_added() -> None:
    found = steps.read([text(), text(seconds=3.0, countsAllocations=False)])
    assert (found.loops, found.seconds, found.counts_allocations) == (2, 3.0, True)
    assert found.busy == pytest.approx(1.5)
    answer = found.by_actor()["answer"]
    assert (answer.steps, answer.allocations) == (24, 68)
    assert found.by_actor()[steps.OUTSIDE].allocations == 14
    delay = found.delays[7000]
    assert delay.steps == 8
    assert delay.at_most(0.5) == pytest.approx(1e-6)
    assert delay.at_most(0.75) == pytest.approx(2e-6)
    assert delay.at_most(1.0) == pytest.approx(0.005)
    assert dict(found.stacks()) == {("serve", "answer"): 1000.0, ("answer",): 500.0}


def test_samples_become_places_in_files(tmp_path: Path) -> None:
    file = tmp_path / "1.samples"
    words = array("Q", [2, 0x1010, 0x2021, 1, 0x1010, 1, 0x9999, 0, 5, 6])
    file.write_bytes(words.tobytes())
    Path(f"{file}.maps").write_text(
        "00001000-00002000 r-xp 00000000 00:00 0   [vdso]\n00002000-00003000 r-xp 00000000 00:00 0\n", encoding="utf-8"
    )
    profile = signals.read(file)
    assert profile.total == 3
    names = sorted(tuple(place.object for place in stack) for stack in profile.weights)
    assert names == [("[unknown]",), ("[unknown]", "[vdso]"), ("[vdso]",)]


def found() -> Found:
    spent = Spent(10.0, 100, stacks=Stacks("ms"))
    spent.causes["allocate"] = 2.5
    spent.causes["unmapped"] = 7.5
    spent.functions["allocate", "operator new"] = 2.5
    spent.stacks.add(["main", "operator new"], 2.5)
    spent.kinds["operator new"] = "allocate"
    return Found("Profile of server", "perf", ["allocate", "kernel"], spent, steps.read([text()]), ["a problem"])


def test_what_is_printed() -> None:
    out = plain(width=200, no_color=True)
    with out.capture() as printed_text:
        for part in printed(found(), plain=True):
            out.print(part)
    shown = printed_text.get()
    assert "user code, and what has no cause" in shown
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown.splitlines() if "|" in line]
    assert ["allocate", "operator new", "2.5", "25"] in rows
    assert ["answer", "12", "750", "100", "6.25e+04"] in rows or ["answer", "12", "750", "100", "62,500"] in rows
    assert ["answer", "serve", "10", "500"] in rows
    assert ["7000", "4", "2,000", "1", "5,000", "5,000"] in rows
    assert ["answer", "34", "2.83"] in rows
    assert "a problem" in shown


def test_the_page_has_all_tables_and_both_graphs() -> None:
    html = page(found())
    for part in ("By cause", "By actor and its async callers", "In the run queue", "Allocations by actor", "a problem"):
        assert part in html
    assert html.count('class="flame"') == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either"),
        (["--pid", "1", "true"], "either"),
        (["--pid", "0"], "number of a process"),
        (["/no/such/program"], "no program"),
        (["--pid", "1", "--seconds", "0"], "--seconds"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        command.check(parser().parse_args(arguments))


def test_what_follows_the_program_is_its_own() -> None:
    options = parser().parse_args(["--allocations", "true", "--pid", "7"])
    assert options.command == ["true", "--pid", "7"]
    assert options.allocations and not options.pid


class OfTheLoader:
    """A sampler that sees a program only while it is loaded."""

    how, period = "perf", 0.001

    def run(self, *_: object) -> tuple[int, Profile]:
        return 0, Profile({(Place("/usr/lib/ld-linux-x86-64.so.2", None, "_dl_map_object"),): 2.0})


def test_a_program_without_samples_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "sampler", lambda _: OfTheLoader())
    out = plain(width=200, no_color=True)
    html = tmp_path / "page.html"
    with out.capture() as printed_text, pytest.raises(Failure, match="nothing was measured"):
        command.main(parser().parse_args(["--html", str(html), "true"]), out, out)
    assert "no sample was taken of the program's own code" in printed_text.get()
    assert "By cause" not in printed_text.get() and not html.exists()


class OfTasks:
    """A sampler of a program that writes the times of its steps, and fails."""

    how, period = "perf", 0.001

    def run(self, _command: object, _on_line: object, variables: dict[str, str], _folder: Path) -> tuple[int, Profile]:
        (Path(variables["MILLRACE_PROFILE"]) / "1.json").write_text(text(), encoding="utf-8")
        return 3, Profile({(Place("/usr/bin/server", None, "main"),): 2.0})


def test_remarks_are_not_shown_as_what_could_not_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "sampler", lambda _: OfTasks())
    out = plain(width=200, no_color=True)
    with out.capture() as printed_text:
        options = parser().parse_args(["--allocations", "--html", str(tmp_path / "page.html"), "true"])
        assert command.main(options, out, out) == 3
    remarks = [
        "the program ended with exit code 3",
        "allocations were counted, which makes each one several times as slow",
    ]
    how = "; ".join(["perf", *remarks])
    assert printed_text.get().startswith(f"Profile of true; {how}\n")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(rf'<p class="subtitle">.* · {how}</p>', html)
    assert "Not everything could be measured" not in html


def test_numbers_of_long_rows_are_seen_without_scrolling(chromium: str, tmp_path: Path) -> None:
    profiled = found()
    assert profiled.spent
    for number in range(3):
        name = f"flow::detail::Function{number}<std::pair<int, int>>::call(int, std::string const&, std::vector<int>)"
        profiled.spent.functions["allocate", name] = 2.5
    probe = """<script>
    addEventListener("load", () => {
        const wide = [...document.querySelectorAll(".box")].filter((box) => box.scrollWidth > box.clientWidth);
        document.body.dataset.wide = wide.map((box) => box.getAttribute("aria-label")).join();
    });
    </script>"""
    file = tmp_path / "page.html"
    file.write_text(page(profiled).replace("<head>", f"<head>{probe}", 1), encoding="utf-8")
    browser = [chromium, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,2000"]
    browser += ["--virtual-time-budget=5000", f"--user-data-dir={tmp_path}/profile", "--dump-dom", file.as_uri()]
    done = subprocess.run(browser, capture_output=True, text=True, check=True, timeout=60)
    assert 'data-wide=""' in done.stdout


def test_samples_of_a_console_are_its_maps_and_its_words() -> None:
    maps = "1000-2000 r-xp 00000000 00:00 0  /nowhere/program\n"
    words = array("Q", [2, 0x1004, 0x5000, 1, 0x1008])
    profile = signals.answered(f"{len(maps)}\n{maps}".encode() + words.tobytes())
    assert profile.total == 2
