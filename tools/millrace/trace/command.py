"""millrace trace: writes a page of a trace."""

from __future__ import annotations

import argparse
import html
import json
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.files import check_writable, write
from millrace.trace.read import document

TEMPLATE = Path(__file__).with_name("page.html")


def main(options: argparse.Namespace) -> int:
    place: Path = options.html or options.file.with_suffix(".html")
    check_writable(place)
    write(place, page(options.file.name, options.file.read_bytes()))
    print(f"page: {place}")
    return 0


def page(name: str, trace: bytes) -> str:
    try:
        data = json.dumps(document(trace), separators=(",", ":")).replace("<", "\\u003c")
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise Failure(f"millrace trace: {name} is no whole trace of trace::Recorder") from None
    return TEMPLATE.read_text(encoding="utf-8").replace("@TITLE@", html.escape(name)).replace("@DATA@", data)
