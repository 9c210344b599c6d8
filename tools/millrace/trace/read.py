"""Reads the part of Perfetto's format that flow/trace/perfetto.cpp writes; its numbers of fields are there."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

Fields = dict[int, list[Any]]  # an int or bytes, by the number of the field


def document(data: bytes) -> dict[str, Any]:
    """For page.html: rows of track, time in ns, length (-1: a mark), name, detail and depth; arrows between rows. Names
    and details are numbers of texts. A ValueError if it is no whole trace."""
    tracks: dict[int, tuple[str, int]] = {}  # name and parent
    names: defaultdict[int, dict[int, str]] = defaultdict(dict)  # by sequence
    opened: defaultdict[int, list[int]] = defaultdict(list)  # rows, by track
    texts: dict[str, int] = {}
    rows: list[list[int]] = []
    starts: dict[int, int] = {}  # rows, by flow
    arrows: list[list[int]] = []
    for packet in map(_fields, _fields(data).get(1, [])):
        time, sequence = _first(packet, 8, 0), _first(packet, 10, 0)
        for interned in packet.get(12, []):
            for entry in map(_fields, _fields(interned).get(2, [])):
                names[sequence][_first(entry, 1, 0)] = _first(entry, 2, b"").decode()
        for descriptor in map(_fields, packet.get(60, [])):
            name = _first(_fields(_first(descriptor, 3, b"")), 6, _first(descriptor, 2, b""))
            tracks[_first(descriptor, 1, 0)] = name.decode(), _first(descriptor, 5, 0)
        for event in map(_fields, packet.get(11, [])):
            kind, track = _first(event, 9, 0), _first(event, 11, 0)
            if kind == 2:
                if opened[track]:  # else the recorder's ring has lost the begin
                    step = rows[opened[track].pop()]
                    step[2] = time - step[1]
                continue
            starts |= dict.fromkeys(event.get(47, []), len(rows))
            arrows += [[starts[flow], len(rows)] for flow in event.get(48, []) if flow in starts]
            name = texts.setdefault(names[sequence].get(_first(event, 10, 0), ""), len(texts))
            detail = texts.setdefault(_detail(event), len(texts))
            rows.append([track, time, -1, name, detail, len(opened[track])])
            if kind == 1:
                opened[track].append(len(rows) - 1)
    if not rows:
        raise ValueError("no steps")
    first, last = min(row[1] for row in rows), max(row[1] + max(row[2], 0) for row in rows)
    for unended in opened.values():
        for index in unended:
            rows[index][2] = last - rows[index][1]
    used = {track: number for number, track in enumerate(dict.fromkeys(row[0] for row in rows))}
    titles = [": ".join(tracks[each][0] for each in (tracks[track][1], track) if each in tracks) for track in used]
    for row in rows:
        row[:2] = used[row[0]], row[1] - first
    return {"tracks": titles, "texts": list(texts), "rows": rows, "arrows": arrows}


def _detail(event: Fields) -> str:
    parts = [_first(event, 22, b"").decode()]
    for annotation in map(_fields, event.get(4, [])):
        number = _first(annotation, 4, 0)
        parts.append(f"{_first(annotation, 10, b'').decode()} {number - (number >> 63 << 64)}")
    return ", ".join(filter(None, parts))


def _first(fields: Fields, number: int, default: Any) -> Any:
    return fields.get(number, [default])[0]


def _fields(data: bytes) -> Fields:
    result: Fields = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value: int | bytes
        if key & 7 == 0:
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            part, at = data[at : at + size], at + size
            value = part if key & 7 == 2 else int.from_bytes(part, "little")
        if at > len(data):
            raise ValueError("it ends too early")
        result.setdefault(key >> 3, []).append(value)
    return result


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at
