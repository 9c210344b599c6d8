"""The types of tools/ensemble's arguments."""

from __future__ import annotations

import argparse
import re
import sys

SEEDS = sys.maxsize  # fit into SQLite, and a range of them has a len()


def seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is no seed: write a number")
    if int(text) >= SEEDS:
        raise argparse.ArgumentTypeError(f"seeds end before {SEEDS}")
    return int(text)


def seeds(text: str) -> range:
    """`FIRST..LAST`, or one."""
    first, dots, last = text.partition("..")
    try:
        found = range(seed(first), seed(last if dots else first) + 1)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"'{text}' are no seeds, as 0..999: {error}") from None
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' are no seeds: the last comes before the first")
    return found


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not 0 < found < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' must be seconds, more than 0")
    return found


def scheduler(text: str) -> str:
    if not re.fullmatch(r"(tcp|tls|ws|wss)://.+:\d+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no scheduler, as tcp://HOST:PORT")
    return text
