"""Prints frames as text: a table of all, the most wasteful first, and the members of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from actorc_frames.layout import FIXED, KINDS, STATE_MACHINE, Layout, Member

_LONGEST_TYPE = 60


def grouped(layouts: Iterable[Layout]) -> list[list[Layout]]:
    """Groups the frames by function, the most wasteful function first; state machines first in each group."""
    groups: dict[tuple[str, str, str], list[Layout]] = {}
    for layout in layouts:
        groups.setdefault((layout.file, layout.function, _arity(layout)), []).append(layout)
    for group in groups.values():
        group.sort(key=lambda layout: (layout.style != STATE_MACHINE, layout.compiler))
    return sorted(groups.values(), key=lambda group: (-max(each.waste for each in group), group[0].function))


def _arity(layout: Layout) -> str:
    """Distinguishes overloads: a function begins at one line."""
    return str(layout.line)


def column(layout: Layout) -> str:
    return f"{layout.style} {layout.compiler}"


def summary(groups: Sequence[Sequence[Layout]]) -> str:
    """One row for each function: of each style and compiler the bytes, and the block that they take."""
    columns = sorted(
        {(each.style != STATE_MACHINE, column(each)) for group in groups for each in group},
    )
    names = [name for _, name in columns]
    rows = [["", *names, "waste"]]
    for group in groups:
        cells = {column(each): f"{each.size} in {each.block}" for each in group}
        wastes = sorted({each.waste for each in group})
        waste = str(wastes[0]) if len(wastes) == 1 else f"{wastes[0]} to {wastes[-1]}"
        rows.append([group[0].function, *(cells.get(name, "-") for name in names), waste])
    return aligned(rows)


def details(group: Sequence[Layout], heading: Callable[[Layout], str] = column) -> Iterator[str]:
    """The members of each frame of one function. Equal frames of several compilers are printed once."""
    first = group[0]
    yield f"{first.function} ({first.file}:{first.line})"
    shown: dict[tuple[str, tuple[tuple[int, int, str, str], ...]], list[Layout]] = {}
    for layout in group:
        alike = tuple((each.offset, each.size, each.kind, each.name) for each in layout.members)
        shown.setdefault((layout.style, alike), []).append(layout)
    for layouts in shown.values():
        layout = layouts[0]
        names = ", ".join(map(heading, layouts))
        yield f"  {names}: {layout.size} bytes in a block of {layout.block}, waste {layout.waste}"
        rows = [["offset", "bytes", "kind", ""]]
        rows += [[str(each.offset), str(each.size), each.kind, described(each)] for each in _merged(layout.members)]
        yield indented(aligned(rows, right=(0, 1)), 4)


def described(member: Member) -> str:
    type_ = member.type if len(member.type) <= _LONGEST_TYPE else member.type[: _LONGEST_TYPE - 1] + "…"
    return ", ".join(filter(None, (member.name, type_))) if member.kind not in FIXED else member.name


def _merged(members: Iterable[Member]) -> Iterator[Member]:
    """The members that every frame has take one row."""
    fixed: Member | None = None
    for member in members:
        if member.kind in FIXED:
            start = member if fixed is None else fixed
            names = member.name if fixed is None else f"{fixed.name}, {member.name}"
            fixed = Member(names, start.offset, member.end - start.offset, FIXED[0])
            continue
        if fixed is not None:
            yield fixed
            fixed = None
        yield member
    if fixed is not None:
        yield fixed


def legend(layouts: Iterable[Layout]) -> str:
    """What the kinds of these frames mean."""
    there = {member.kind for layout in layouts for member in layout.members}
    rows = [[kind, meaning] for kind, meaning in KINDS.items() if kind in there and kind not in FIXED[1:]]
    unnamed = any(member.name.endswith("?") for layout in layouts for member in layout.members)
    if unnamed:
        rows.append(["name?", "clang kept the value without its name: the only variable of that size"])
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = [
            cell.rjust(widths[number]) if number in right else cell.ljust(widths[number])
            for number, cell in enumerate(row)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())
