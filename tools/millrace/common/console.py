"""Consoles of Rich that print a text unchanged: no markup for [this], no emoji for :this:, no colour for 17.

Rich is imported when it is used, so that `--help` needs no package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_ENDLESS = 100_000  # columns: output to a file need not be wrapped


def plain(**options: Any) -> Console:
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **options)


def output() -> Console:
    """Where tables go: a terminal, or Markdown in a file or a pipe."""
    out = plain()
    return out if out.is_terminal else plain(no_color=True, width=_ENDLESS)


def text_output(text: TextIO) -> Console:
    """Where tables go as Markdown, into a text."""
    return plain(no_color=True, width=_ENDLESS, file=text)
