"""The frames of the benchmarks, from the debug information of the measured program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from actorc_frames.debug_info import NoDebugInfo, text, units
from actorc_frames.found import layouts_of
from actorc_frames.layout import STATE_MACHINE, Layout
from benchlib.arguments import binary
from millrace.bench.results import Name, parse_name
from millrace.bench.suite import available, compiled, once
from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure

# The function with the benchmark's `frame_bytes`, if it is not the driver: see `itemBytes` in the sources.
ITEMS = {
    "NET2": "increment",
    "callback": "follow",
    "waiting": "follow",
    "create_ready": "giveAtOnce",
    "chain": "passOn",
    "error": "passOn",
    "cancel": "waitCounted",
    "cancel_handler": "waitHandled",
    "cancel_plain": "waitPlain",
    "race_first": "firstOf",
    "race_last": "firstOf",
    "collection": "follow",
    "stream": "sumOf",
    "stream_waiting": "sumOf",
    "timer_cancel": "pause",
    "timer_flight": "pause",
    "timer_random": "pause",
    "timers": "pause",
    "timers_unordered": "pause",
}
_SOURCES = re.compile(r"bench/(?:.*/)?(?:actors|coroutines)/")
_ACTOR_FILE = re.compile(r"\.actor\.(?:cpp|h)$")

Frames = dict[tuple[str, str, str], Layout]  # by file's subject, function, and style


def style_of(layout: Layout) -> str:
    """As the benchmarks name it."""
    if layout.style == STATE_MACHINE:
        return "actor"
    return "actorc-coroutine" if _ACTOR_FILE.search(layout.file) else "coroutine"


def function_of(layout: Layout) -> str:
    """Its name, without the namespace that differs between the back ends."""
    return layout.function.removeprefix("state_machine::").removeprefix("coroutine::")


def subject(file: str) -> str:
    """The files of all styles with the same works have the same one: `tasks`."""
    return Path(file).name.split(".")[0]


def item_of(benchmark: str) -> str:
    """The function with the frame that is the benchmark's `frame_bytes`."""
    words = benchmark.lower().split("_")
    return ITEMS.get(benchmark) or "drive" + "".join(word[:1].upper() + word[1:] for word in words)


def frames_of(compiler: str) -> Frames:
    """All frames of the benchmarks in our styles, from the program as it was built."""
    path = binary(compiler)
    try:
        tops = [unit for unit in units(str(path)) if _SOURCES.search(text(unit, "name"))]
        found = [layout for unit in tops for layout in layouts_of(unit, compiler)]
    except NoDebugInfo as error:
        raise Failure(str(error)) from error
    own = [layout for layout in found if _SOURCES.search(layout.file)]
    if not own:
        raise Failure(f"{path}: its debug information has no frames of the benchmarks")
    return {(subject(each.file), function_of(each), style_of(each)): each for each in own}


def choose(frames: Frames, pattern: str) -> Frames:
    """The frames with a function, or a benchmark, that the pattern matches. A UsageError if there is none."""
    wanted = compiled(pattern)
    items = {item_of(name) for name in ITEMS if wanted.search(name)}
    found = {key: each for key, each in frames.items() if wanted.search(key[1]) or key[1] in items}
    if not found:
        raise UsageError(unknown("frame", pattern, [*dict.fromkeys(key[1] for key in frames), *ITEMS]))
    return found


def counted(compiler: str) -> dict[Name, int]:
    """`frame_bytes` of the smallest size of each benchmark, by running it."""
    smallest: dict[tuple[str, str], str] = {}
    for name in sorted(available(binary(compiler), "sim"), key=lambda each: parse_name(each).size or 0):
        parsed = parse_name(name)
        smallest.setdefault((parsed.benchmark, parsed.style), name)
    own = [name for (_, style), name in smallest.items() if style in ("actor", "coroutine", "actorc-coroutine")]
    results = once(binary(compiler), own, "sim", 1)["benchmarks"]
    return {parse_name(each["name"]): int(each["frame_bytes"]) for each in results if each.get("frame_bytes")}


def disagreements(frames: Frames, measured: dict[Name, int]) -> list[str]:
    """The frames for which the debug information differs from the running program."""
    found = []
    for name, bytes_ in measured.items():
        blocks = {
            each.block
            for (_, function, style), each in frames.items()
            if function == item_of(name.benchmark) and style == name.style
        }
        if bytes_ not in blocks:
            said = " or ".join(map(str, sorted(blocks))) or "nothing"
            found.append(f"{name.benchmark}/{name.style}: the program says {bytes_}, its debug information {said}")
    return found


def side_by_side(frames: Sequence[Frames]) -> dict[str, list[Layout]]:
    """By function, `tasks increment`: first ACTOR, then the coroutines, of each compiler; the most wasteful first."""
    rows: dict[str, list[Layout]] = {}
    for each in frames:
        for (file, function, _), layout in each.items():
            rows.setdefault(f"{file} {function}", []).append(layout)
    for row in rows.values():
        row.sort(key=lambda layout: (layout.style != STATE_MACHINE, style_of(layout) != "coroutine"))
    return dict(sorted(rows.items(), key=lambda row: (-max(each.waste for each in row[1]), row[0])))
