"""Draws flame graphs, and the difference of two, as SVG with search and zoom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from benchlib.flame.stacks import Stacks
from benchlib.flame.tree import Box, Node, boxes, tree

WIDTH = 1200  # without scripts; the script uses the available width
ROW = 18
TOP = 62  # title, field for searching, legend
BOTTOM = 24  # the text for the frame under the pointer
SMALLEST = 0.0008  # of the whole: less than a pixel
CHARACTER = 6.7  # width of one, at 11 pixels
COLOURS = 20  # classes k0, k1, ... in flame.css
STEPS = 5  # of redness and blueness

_FOLDER = Path(__file__).parent


def flame_svg(stacks: Stacks, title: str, *, kinds: Mapping[str, str] | None = None, order: Sequence[str] = ()) -> str:
    """One flame graph. `kinds` maps the name of a frame to its kind: each kind has a colour and a place in the legend.
    `order` fixes the order of the kinds for every graph; other kinds follow in the order of their first use. Without
    `kinds`, colours only separate neighbours."""
    top = tree([stacks])
    order = list(dict.fromkeys([*order, *(kinds or {}).values()]))

    def colour(node: Node) -> str:
        if kinds is not None:
            kind = kinds.get(node.name)
            return "none" if kind is None else f"k{order.index(kind) % COLOURS}"
        return f"k{sum(node.name.encode()) % COLOURS}"

    def tip(node: Node) -> str:
        share = node.whole[0] / top.whole[0] if top.whole[0] else 0.0
        kind = (kinds or {}).get(node.name)
        text = f"{node.name}: {share:.1%}, {amount(node.whole[0])} {stacks.unit}, itself {amount(node.own[0])}"
        return f"{text} ({kind})" if kind else text

    shown = list(boxes(top, SMALLEST))
    present = {kinds.get(box.node.name) for box in shown} if kinds else set()
    legend = [(f"k{i % COLOURS}", kind) for i, kind in enumerate(order) if kind in present]
    return _svg(shown, title, legend, colour, tip)


def difference_svg(a: Stacks, b: Stacks, title: str, *, names: tuple[str, str] = ("A", "B")) -> str:
    """The difference of two profiles: red where `b` spends more than `a`, blue where it spends less. Both must be per
    item.

    A frame is as wide as in both together, so that a frame of only one of them is visible.
    """
    top = tree([a, b])
    largest = max((abs(_more(box.node)) for box in boxes(top, SMALLEST) if box.depth), default=0.0)

    def colour(node: Node) -> str:
        step = round(STEPS * abs(_more(node)) / largest) if largest else 0
        if step == 0:
            return "none"
        return f"{'more' if _more(node) > 0 else 'less'}{min(step, STEPS)}"

    def tip(node: Node) -> str:
        whole, own = (f"{amount(one[0])} -> {amount(one[1])}" for one in (node.whole, node.own))
        return f"{node.name}: {_signed(_more(node))} {b.unit} ({whole}; itself {own})"

    legend = [(f"more{STEPS}", f"{names[1]} takes more"), (f"less{STEPS}", f"{names[1]} takes less than {names[0]}")]
    return _svg(list(boxes(top, SMALLEST)), title, legend, colour, tip)


def amount(value: float) -> str:
    """With three digits, or as many as there are before the point."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.0005 else "0"


def _more(node: Node) -> float:
    return node.whole[1] - node.whole[0]


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + amount(value)


def _svg(
    shown: Sequence[Box],
    title: str,
    legend: Sequence[tuple[str, str]],
    colour: Callable[[Node], str],
    tip: Callable[[Node], str],
) -> str:
    levels = 1 + max(box.depth for box in shown)
    height = TOP + levels * ROW + BOTTOM
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flame-graph" viewBox="0 0 {WIDTH} {height}" width="100%" '
        f'height="{height}" preserveAspectRatio="xMidYMin" data-character="{CHARACTER}" role="group" '
        f"aria-label={quoteattr(title)}>"
    )
    frames = "\n".join(_frame(box, height, colour(box.node), tip(box.node)) for box in shown)
    parts = [
        head,
        f"<style><![CDATA[\n{(_FOLDER / 'flame.css').read_text(encoding='utf-8')}]]></style>",
        f'<rect class="ground" width="100%" height="{height}"/>',
        f'<text class="title" x="8" y="20">{escape(title)}</text>',
        _SEARCH,
        _legend(legend),
        f'<g class="frames">\n{frames}\n</g>',
        f'<text class="detail" x="8" y="{height - 8}" aria-live="polite"/>',
        f"<script><![CDATA[\n{(_FOLDER / 'flame.js').read_text(encoding='utf-8')}]]></script>",
        "</svg>",
    ]
    # ASCII only, so that a page without a declared encoding shows it correctly.
    return ("\n".join(parts) + "\n").encode("ascii", "xmlcharrefreplace").decode("ascii")


# A form of HTML: programs that only draw SVG leave it out.
_SEARCH = f"""\
<foreignObject class="tools" x="{WIDTH - 420}" y="2" width="420" height="28">
<form xmlns="http://www.w3.org/1999/xhtml"><output></output>
<input type="search" placeholder="search (regular expression)" aria-label="search"/>
<button type="reset">reset</button></form>
</foreignObject>"""


def _legend(entries: Sequence[tuple[str, str]]) -> str:
    parts = []
    left = 8.0
    for colour, text in entries:
        parts.append(
            f'<g data-width="{_text_width(text) + 22:.0f}" transform="translate({left:.0f} 36)">'
            f'<rect class="{colour}" width="12" height="12"/><text x="16" y="10">{escape(text)}</text></g>'
        )
        left += _text_width(text) + 22
    return f'<g class="legend">{"".join(parts)}</g>'


def _text_width(text: str) -> float:
    return len(text) * CHARACTER


def _frame(box: Box, height: int, colour: str, tip: str) -> str:
    name = box.node.name
    x, y, width = box.left * WIDTH, height - BOTTOM - (box.depth + 1) * ROW, box.width * WIDTH
    label = shortened(name, width)
    return (
        f'<g class="frame" data-left="{box.left:.6f}" data-width="{box.width:.6f}" data-depth="{box.depth}" '
        f'data-name={quoteattr(name)} tabindex="{0 if box.depth == 0 else -1}" role="button" '
        f"aria-label={quoteattr(tip)}>"
        f"<title>{escape(tip)}</title>"
        f'<rect class="{colour}" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" rx="2"/>'
        f'<text x="{x + 4:.2f}" y="{y + 13}">{escape(label)}</text></g>'
    )


def shortened(name: str, width: float) -> str:
    """As much of a name as fits; nothing if only a letter or two would fit."""
    room = int((width - 8) / CHARACTER)
    if len(name) <= room:
        return name
    return name[: room - 1] + "…" if room >= 4 else ""
