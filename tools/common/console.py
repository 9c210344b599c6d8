"""Consoles of Rich that print a text unchanged: no markup for [this], no emoji for :this:, no colour for 17."""

from __future__ import annotations

from functools import partial

from rich.console import Console

plain = partial(Console, markup=False, emoji=False, highlight=False)

_ENDLESS = 100_000  # columns: output to a file need not be wrapped


def output() -> Console:
    """Where tables go: a terminal, or Markdown in a file or a pipe."""
    out = plain()
    return out if out.is_terminal else plain(no_color=True, width=_ENDLESS)
