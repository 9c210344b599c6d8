"""What tools print stands as it is."""

from __future__ import annotations

import pytest

from millrace.common.console import output, plain
from millrace.common.progress import Bar

TEXT = "in [red]state[/]:end:5 'x' at 17 " + 30 * "and so on "


def test_a_text_is_printed_as_it_stands(capfd: pytest.CaptureFixture[str]) -> None:
    output().print(TEXT)
    assert capfd.readouterr().out == TEXT + "\n"


def test_a_bar_is_called_what_it_is_called(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    console = plain(stderr=True, force_terminal=True, color_system=None, width=400)
    with Bar(console, TEXT) as bar:
        bar.update(1, 2, "[red]note")
    said = capfd.readouterr().err
    assert TEXT.rstrip() in said
    assert "[red]note" in said


def test_a_line_of_progress_is_one_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millrace.common.progress.LINE_INTERVAL", -1.0)
    with Bar(plain(stderr=True, force_terminal=False, width=80), "seeds") as bar:
        bar.update(1, 2, 100 * "x")
    assert capfd.readouterr().err == f"seeds: 1/2, {100 * 'x'}\n"
