"""Draws the members of frames as SVG without a script: blocks side by side, each in rows of bytes.

    svg = layout_svg([actor, clang_coroutine, gcc_coroutine], title="NET2")

The drawing follows the reader's light or dark setting, whether it is a file of its own or part of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from actorc_frames.layout import KINDS, STATE_MACHINE, Layout, Member

BYTE = 26  # width and height of one byte
MARGIN = 16
OFFSETS = 34  # the column with the offsets, left of each block
GAP = 24
HEAD = 64  # title and what stands over each block
LEGEND_ROW = 20
_CHARACTER = 6.3  # at 11 pixels

# Of each kind: the fill in light and in dark. The text on it is the page's.
COLOURS = {
    "cell": ("#c9d6e8", "#33475f"),
    "header": ("#d9cbe8", "#4b3a62"),
    "waiter": ("#e6d3dc", "#5c3d4c"),
    "result": ("#bfe3c8", "#27573a"),
    "parameter": ("#a9dcd6", "#1f5a55"),
    "variable": ("#b5d99c", "#3c5a26"),
    "wait": ("#f6d9a8", "#6b4d18"),
    "temporary": ("#f3b8a0", "#743a22"),
    "index": ("#e4e0b0", "#55511f"),
    "padding": ("#ececec", "#2b2b2b"),
    "rounding": ("#f7f7f7", "#202020"),
}
_HATCHED = ("padding", "rounding")


def layout_svg(layouts: Sequence[Layout], title: str = "", row: int = 8, headings: Sequence[str] | None = None) -> str:
    """The blocks side by side, `row` bytes in a row (8 or 16), and what the colours mean. `headings`: of each block,
    instead of its style and compiler."""
    if row not in (8, 16):
        raise ValueError(f"a row has 8 or 16 bytes, not {row}")
    rows = max((-(-layout.block // row) for layout in layouts), default=0)
    kinds = [kind for kind in KINDS if any(member.kind == kind for layout in layouts for member in layout.members)]
    column = OFFSETS + row * BYTE
    width = 2 * MARGIN + max(1, len(layouts)) * (column + GAP) - GAP
    columns = max(1, (width - 2 * MARGIN) // 260)
    legend = HEAD + rows * BYTE + MARGIN
    height = legend + -(-len(kinds) // columns) * LEGEND_ROW + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" class="frame-layout" aria-label="{escape(title or ", ".join(headings or ["frame layout"]))}">',
        f"<style>{_style()}</style>{_PATTERN}",
        f'<rect class="fl-page" width="{width}" height="{height}"/>',
    ]
    if title:
        parts.append(f'<text class="fl-title" x="{MARGIN}" y="24">{escape(title)}</text>')
    for number, layout in enumerate(layouts):
        over = headings[number] if headings else heading(layout)
        parts.extend(_block(layout, over, MARGIN + number * (column + GAP), row))
    for number, kind in enumerate(kinds):
        x, y = MARGIN + number % columns * 260, legend + number // columns * LEGEND_ROW
        parts.append(f'<rect class="fl-{kind} fl-box" x="{x}" y="{y}" width="14" height="14"/>')
        parts.append(f'<text class="fl-text" x="{x + 20}" y="{y + 11}">{kind}')
        parts.append(f"<title>{escape(KINDS[kind])}</title></text>")
    return "".join([*parts, "</svg>\n"])


def heading(layout: Layout) -> str:
    return f"{'ACTOR' if layout.style == STATE_MACHINE else layout.style}, {layout.compiler}"


def _block(layout: Layout, over: str, x: int, row: int) -> Iterator[str]:
    left = x + OFFSETS
    sizes = f"{layout.size} bytes, block {layout.block}, waste {layout.waste}"
    yield f'<text class="fl-head" x="{left}" y="44">{escape(over)}</text>'
    yield f'<text class="fl-text" x="{left}" y="58">{sizes}</text>'
    for offset in range(0, layout.block, row):
        y = HEAD + offset // row * BYTE + 17
        yield f'<text class="fl-offset" x="{left - 6}" y="{y}" text-anchor="end">{offset}</text>'
    for member in layout.members:
        yield from _member(member, left, row)


def _member(member: Member, left: int, row: int) -> Iterator[str]:
    """A rectangle in each row that it has bytes in, and its name in the widest."""
    pieces = list(_pieces(member, row))
    named = max(pieces, key=lambda piece: piece[1])
    what = f"{member.name or member.kind}: {member.size} bytes at {member.offset}, {member.kind}"
    yield f"<g><title>{escape(what)}{escape(f', {member.type}' if member.type else '')}</title>"
    for start, count in pieces:
        x, y = left + start % row * BYTE, HEAD + start // row * BYTE
        yield f'<rect class="fl-{member.kind} fl-box" x="{x}" y="{y}" width="{count * BYTE}" height="{BYTE}"/>'
        if member.kind in _HATCHED:
            yield f'<rect fill="url(#fl-hatch)" x="{x}" y="{y}" width="{count * BYTE}" height="{BYTE}"/>'
    text = _shortened(member.name or member.kind, named[1] * BYTE - 8)
    if text:
        x, y = left + named[0] % row * BYTE + 4, HEAD + named[0] // row * BYTE + 17
        yield f'<text class="fl-text" x="{x}" y="{y}">{escape(text)}</text>'
    yield "</g>"


def _pieces(member: Member, row: int) -> Iterator[tuple[int, int]]:
    """(offset, bytes) in each row."""
    start = member.offset
    while start < member.end:
        count = min(member.end, (start // row + 1) * row) - start
        yield start, count
        start += count


def _shortened(text: str, width: float) -> str:
    fits = int(width / _CHARACTER)
    if len(text) <= fits:
        return text
    return text[: fits - 1] + "…" if fits > 2 else ""


def _style() -> str:
    light = "".join(f".fl-{kind}{{fill:{colours[0]}}}" for kind, colours in COLOURS.items())
    dark = "".join(f".fl-{kind}{{fill:{colours[1]}}}" for kind, colours in COLOURS.items())
    return (
        ".frame-layout text{font:11px system-ui,sans-serif;fill:#1b1b1b}"
        ".frame-layout .fl-title{font-size:15px;font-weight:600}.frame-layout .fl-head{font-size:12px;font-weight:600}"
        ".frame-layout .fl-offset{font-size:9px;fill:#777}.fl-page{fill:#fff}.fl-box{stroke:#8a8a8a;stroke-width:.6}"
        f"{light}@media (prefers-color-scheme:dark){{.frame-layout text{{fill:#e6e6e6}}.fl-page{{fill:#161616}}{dark}}}"
    )


_PATTERN = (
    '<defs><pattern id="fl-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line x1="0" y1="0" x2="0" y2="6" stroke="#888" stroke-width="1" stroke-opacity=".45"/></pattern></defs>'
)
