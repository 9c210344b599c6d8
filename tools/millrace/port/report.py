"""What a scan found, for people and for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from millrace.port.scan import Scan, Use
from millrace.port.vocabulary import Vocabulary

NO_CLANG = "--names asks for that"
_REASONS = 5  # that are shown without --all
_WIDEST = 34  # of a name, before its advice
FORWARD = (
    "Flow's classes that plain files declare: they are in a namespace here, so flow/forward.h is to be included\n"
    "instead (fdbrpc/forward.h for those of fdbrpc): millrace port --fix does that; in .actor files such lines may stay"
)

DATABASE = (
    "the database: {} of its headers, names and errors, which are no part of Flow and not here (--all lists them)"
)
CLANG = "read with clang: {}; by their names, which shows no wrong member, argument or type: {}"
REFUSED = "what clang refuses in the files that it has read"


def as_text(result: Scan, every: bool) -> str:
    using, needing = result.using(), result.needing()
    lines = [
        f"{result.folder}: {_count(result.files, 'C++ file')}, of which {len(using)} use Flow: "
        f"{len(using - needing)} have all that they need, {len(needing)} need something that is not here",
        *_how(result, every),
        *_section("headers", result.headers, every),
        *_section("names", result.names, every),
    ]
    if result.refused:
        lines += ["", f"{REFUSED}:", *_lines(result.refused.items())]
    if result.database:
        lines += ["", DATABASE.format(len(result.database))]
        lines += _lines(result.database.items()) if every else ()
    if result.forward:
        lines += ["", FORWARD, *_lines(result.forward.items())]
    return "\n".join(lines)


def _how(result: Scan, every: bool) -> list[str]:
    """How the files that use Flow were read, and the reasons why not with clang."""
    using = result.using()
    reasons = Counter(result.reading.by_names.get(file, NO_CLANG) for file in using - result.reading.files)
    lines = [CLANG.format(_count(using & result.reading.files, "file"), _count(using - result.reading.files, "file"))]
    shown = reasons.most_common(None if every else _REASONS)
    lines += [f"  {_count(range(count), 'file'):>9}: {why}" for why, count in shown]
    if len(shown) < len(reasons):
        lines.append(f"  and {_count(range(len(reasons) - len(shown)), 'other reason')} (--all lists them)")
    return lines


def as_json(result: Scan) -> str:
    using, needing = result.using(), result.needing()
    content = {
        "folder": str(result.folder),
        "files": {"all": len(result.files), "use_flow": len(using), "need_something": sorted(needing)},
        "headers": _objects(result.headers),
        "names": _objects(result.names),
        "refused": _objects(result.refused),
        "read_with_clang": sorted(result.reading.files & using),
        "read_by_names": {file: why for file, why in result.reading.by_names.items() if file in using},
        "database": _objects(result.database),
        "forward_declarations": _objects(result.forward),
    }
    return json.dumps(content, indent=2)


def headers_as_markdown(vocabulary: Vocabulary) -> str:
    """The table of headers of the guide, flow/docs/porting_from_flow.md."""
    lines = ["| header | what is in it | what is missing |", "|---|---|---|"]
    for header in vocabulary.headers.values():
        here = f"is not there: {header.instead}" if header.instead else _quoted(header.names)
        lines.append(f"| `{header.path}` | {here} | {_quoted(header.missing)} |")
    return "\n".join(lines)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _section(title: str, uses: dict[str, Use], every: bool) -> list[str]:
    here = {name: use for name, use in uses.items() if use.advice is None}
    missing = {name: use for name, use in uses.items() if use.advice is not None}
    lines = ["", f"{title}: {len(here)} here, {len(missing)} missing"]
    lines += _lines(missing.items())
    if every:
        lines += _lines(here.items())
    return lines


def _lines(uses: Iterable[tuple[str, Use]]) -> list[str]:
    """Those that most files use first."""
    ordered = sorted(uses, key=lambda item: (-len(item[1].files), -item[1].uses, item[0]))
    return [
        f"  {_count(use.files, 'file'):>9}, {use.uses:>4} {'use' if use.uses == 1 else 'uses':<4}  "
        + (f"{name:<{_WIDEST}}  {use.advice}" if use.advice is not None else name)
        for name, use in ordered
    ]


def _objects(uses: dict[str, Use]) -> dict[str, object]:
    return {
        name: {"here": use.advice is None, "instead": use.advice, "uses": use.uses, "files": sorted(use.files)}
        for name, use in sorted(uses.items())
    }


def _count(things: Iterable[object], word: str) -> str:
    count = len(list(things))
    return f"{count} {word}" + ("" if count == 1 else "s")
