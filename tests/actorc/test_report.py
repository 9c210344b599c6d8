"""The forms in which diagnostics are printed: colour, fixes, JSON and SARIF."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from front import analysed

from actorc.__main__ import main
from actorc.diagnostics import Diagnostic, Diagnostics, Edit, Fault, Fix, Note, Severity
from actorc.report import formats as report_formats
from actorc.report.report import COLOURED, as_text, fixed_lines, render, wants_colour
from actorc.source import Source
from actorc.syntax import Span

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.actor.cpp"))
SOURCE = Source("a b.actor.cpp", "one\ntwo three\nfour\n")
FOUND = Diagnostic(
    Fault.UNREACHABLE,
    Severity.WARNING,
    "m",
    Span(8, 13),
    (Note("n", Span(0, 3)),),
    "h",
    (Fix("f", (Edit(Span(8, 13), "3"), Edit(Span(4, 4), "a\n"))), Fix("g", (Edit(Span(8, 13), ""),))),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "stream", "environment", "expected"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", io.StringIO(), {}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_when_there_is_colour(choice: str, stream: io.StringIO, environment: dict[str, str], expected: bool) -> None:
    assert wants_colour(choice, stream, environment) is expected


def test_colour_adds_nothing_but_escapes() -> None:
    coloured = render(FOUND, SOURCE, COLOURED)
    assert "\x1b[1;35mwarning:\x1b[0m" in coloured
    for sequence in (COLOURED.warning, COLOURED.note, COLOURED.hint, COLOURED.place, COLOURED.end):
        coloured = coloured.replace(sequence, "")
    assert coloured == render(FOUND, SOURCE)


def test_hint_fixes_and_notes_follow_the_message() -> None:
    assert render(FOUND, SOURCE).splitlines() == [
        "a b.actor.cpp:2:5: warning: m [A0502]",
        "    two three",
        "        ^~~~~",
        "hint: h",
        "fix: f",
        "    a",
        "    two 3",
        "fix: g",
        "    two ",
        "a b.actor.cpp:1:1: note: n",
        "    one",
        "    ^~~",
    ]


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ([(0, 3, "1"), (14, 18, "4")], ["1", "4"]),
        ([(0, 14, "")], ["four"]),
        ([(3, 4, " ")], ["one two three"]),
        ([(19, 19, "end")], ["end"]),
        ([(0, 0, "x\n" * 9)], ["x"] * 6 + ["..."]),
    ],
)
def test_lines_that_a_fix_makes(edits: list[tuple[int, int, str]], lines: list[str]) -> None:
    fix = Fix("f", tuple(Edit(Span(start, end), text) for start, end, text in edits))
    assert fixed_lines(fix, SOURCE) == lines


def test_a_very_long_line_that_a_fix_makes_is_shown_around_the_change() -> None:
    source = Source("f", "short\n" + "x" * 5000 + "bad" + "y" * 5000 + "\n")
    [line] = fixed_lines(Fix("f", (Edit(Span(5006, 5009), "good"),)), source)
    assert "xgoody" in line
    assert len(line) < 200


def test_json() -> None:
    [found] = json.loads(report_formats.as_json([(SOURCE, [FOUND])]))["diagnostics"]
    assert found == {
        "file": "a b.actor.cpp",
        "code": "A0502",
        "severity": "warning",
        "title": "unreachable code",
        "message": "m",
        "hint": "h",
        "range": {"start": {"line": 2, "column": 5, "offset": 8}, "end": {"line": 2, "column": 10, "offset": 13}},
        "notes": [
            {
                "message": "n",
                "range": {"start": {"line": 1, "column": 1, "offset": 0}, "end": {"line": 1, "column": 4, "offset": 3}},
            }
        ],
        "fixes": [
            {"message": fix.message, "edits": [edit(start, end, text) for start, end, text in edits]}
            for fix, edits in zip(FOUND.fixes, ([(8, 13, "3"), (4, 4, "a\n")], [(8, 13, "")]), strict=True)
        ],
    }


def edit(start: int, end: int, text: str) -> dict[str, Any]:
    places = [{"line": 2, "column": offset - 3, "offset": offset} for offset in (start, end)]
    return {"range": dict(zip(("start", "end"), places, strict=True)), "text": text}


def test_sarif() -> None:
    log = json.loads(report_formats.as_sarif([(SOURCE, [FOUND])]))
    assert (log["version"], log["$schema"][:8]) == ("2.1.0", "https://")
    [run] = log["runs"]
    [rule] = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"], rule["defaultConfiguration"]) == ("A0502", "Unreachable", {"level": "error"})
    assert rule["help"]["text"].startswith("# A0502")
    [result] = run["results"]
    artifact = {"uri": "a%20b.actor.cpp"}
    region = {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 10}
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]
    [related] = result["relatedLocations"]
    assert (related["id"], related["message"]) == (1, {"text": "n"})
    [change] = result["fixes"][1]["artifactChanges"]
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": ""}}]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.split(".")[0])
def test_golden_files_in_forms_for_programs(path: Path) -> None:
    """Every property that the schema of SARIF 2.1.0 requires, and places that lie in the file."""
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    _, source, diagnostics = analysed(text)
    lines = text.splitlines()
    found = json.loads(report_formats.as_json([(source, list(diagnostics))]))["diagnostics"]
    assert [(one["code"], one["range"]["start"]["offset"]) for one in found] == [
        (one.code, one.span.start) for one in diagnostics
    ]
    [run] = json.loads(report_formats.as_sarif([(source, list(diagnostics))]))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning")
        places = [*result["locations"], *result.get("relatedLocations", [])]
        regions = [place["physicalLocation"]["region"] for place in places]
        for fix in result.get("fixes", []):
            assert fix["description"]["text"]
            regions += [one["deletedRegion"] for change in fix["artifactChanges"] for one in change["replacements"]]
        for region in regions:
            start = (region["startLine"], region["startColumn"])
            end = (region["endLine"], region["endColumn"])
            assert (1, 1) <= start <= end
            assert region["startLine"] <= len(lines) + 1


def run_main(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    source = tmp_path / "a.actor.cpp"
    source.write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); }\nACTOR Future<Void> b() { return Void(); }\n")
    status = main([str(source), str(tmp_path / "out.cpp"), *options])
    return status, *capsys.readouterr()


def test_the_command_prints_documents_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run_main(tmp_path, capsys, "--format=json")
    assert (status, err) == (1, "")
    assert [found["code"] for found in json.loads(out)["diagnostics"]] == ["A0503", "A0506"]
    status, out, err = run_main(tmp_path, capsys, "--format=sarif", "--disable-diagnostics")
    assert (status, err) == (1, "")
    assert [found["ruleId"] for found in json.loads(out)["runs"][0]["results"]] == ["A0503"]


def test_documents_tell_what_could_not_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["none.actor.cpp", "out.cpp", "--format=json"]) == 1
    out, err = capsys.readouterr()
    expected = {"file": "none.actor.cpp", "kind": "file", "message": "No such file or directory"}
    assert json.loads(out)["failures"] == [expected]
    assert err == "actorc: none.actor.cpp: No such file or directory\n"

    def faulty(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("actorc.run.analyse", faulty)
    (tmp_path / "a \udcff.actor.cpp").write_text("int x;\n")
    assert main(["a \udcff.actor.cpp", "out.cpp", "--format=sarif"]) == 3
    [invocation] = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
    [notification] = invocation["toolExecutionNotifications"]
    assert (invocation["executionSuccessful"], notification["level"]) == (False, "error")
    assert "KeyError" in notification["message"]["text"]
    [place] = notification["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20%FF.actor.cpp"


def test_the_command_colours_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[1;31merror:" in run_main(tmp_path, capsys, "--color=always")[2]
    assert "\x1b" not in run_main(tmp_path, capsys)[2]


def test_nothing_to_say() -> None:
    assert as_text(Diagnostics(), SOURCE) == ""
    document = json.loads(report_formats.as_json([]))
    assert (document["diagnostics"], document["failures"]) == ([], [])
    [run] = json.loads(report_formats.as_sarif([]))["runs"]
    assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], True)
