"""The table of net/docs/zeromq.md has every option of libzmq, and names what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = Path("/usr/include/zmq.h")
# Values of an option, which stand between the options.
VALUES = re.compile(r"ZMQ_RECONNECT_STOP_\w+")


def rows() -> dict[str, str]:
    page = (ROOT / "net/docs/zeromq.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(ZMQ_\w+)` \| (.*) \|$", page.split("## Options")[1], re.MULTILINE))


def options_of_libzmq(header: str) -> set[str]:
    """What stands below the titles of socket options, up to the next title."""
    found: set[str] = set()
    for part in re.findall(r"/\*  (?:DRAFT )?Socket options\W.*?(?=/\*  [A-Z])", header, re.DOTALL):
        found.update(re.findall(r"^#define (ZMQ_\w+) \d+$", part, re.MULTILINE))
    return {name for name in found if not VALUES.fullmatch(name)}


def test_what_counts_as_an_option() -> None:
    header = """
#define ZMQ_PAIR 0
/*  Socket options.                                                           */
#define ZMQ_RATE 8
#define ZMQ_SNDHWM 23
/*  Message options                                                           */
#define ZMQ_MORE 1
/*  DRAFT Socket options.                                                     */
#define ZMQ_METADATA 95
/*  DRAFT ZMQ_RECONNECT_STOP options                                          */
#define ZMQ_RECONNECT_STOP_CONN_REFUSED 0x1
"""
    assert options_of_libzmq(header) == {"ZMQ_RATE", "ZMQ_SNDHWM", "ZMQ_METADATA"}


@pytest.mark.skipif(not HEADER.exists(), reason="libzmq is not installed")
def test_the_table_has_every_option() -> None:
    options = options_of_libzmq(HEADER.read_text(encoding="utf-8"))
    assert len(options) > 90
    assert set(rows()) == options


def test_what_the_table_names_is_there() -> None:
    header = (ROOT / "net/message/message_socket.h").read_text(encoding="utf-8")
    names = {here.split("`")[1] for here in rows().values() if here.startswith("`")}
    assert len(names) > 25
    for name in names:
        assert re.search(rf"\b{name.removesuffix('()')}\b", header), name


def test_what_refers_to_another_row_refers_to_one() -> None:
    for here in rows().values():
        if here.startswith("as "):
            assert here.split("`")[1] in rows()
