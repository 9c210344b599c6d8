"""The same works in other libraries, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from benchlib.overview.peers import libraries, own_styles
from millrace.bench.results import TITLES, Row
from millrace.bench.tables import number
from millrace.pages.model import Axis, Chart, Line, Missing, Section, role


def section(rows: Sequence[Row] | Missing) -> Section:
    result = Section(
        "peers",
        "Beside other libraries",
        "The same works in libraries that one might use instead, in one process with ours, on the real clock: "
        "nanoseconds per item, shorter is faster. Ours are coloured; a grey floor is a function pointer, or a bare "
        "coroutine, in an intrusive queue.",
    )
    if isinstance(rows, Missing):
        result.parts.append(rows)
        return result
    for row in rows:
        if chart := _chart(row, [*own_styles(list(rows)), *libraries(list(rows))]):
            result.parts.append(chart)
    return result


def _chart(row: Row, styles: Sequence[str]) -> Chart | None:
    times = {style: ns for style in styles if (ns := row.cell(style).minimum) is not None}
    if not any(role(style) == "other" for style in times):
        return None
    fastest_first = sorted(times, key=lambda style: times[style])
    bars = tuple(
        Line(TITLES.get(style, style), role(style), ((times[style], TITLES.get(style, style)),))
        for style in fastest_first
    )
    identity = row.label.replace("/", "-")
    return Chart(f"peers-{identity}", row.label, _says(times), "bars", Axis("ns per item"), Axis(""), bars)


def _says(times: dict[str, float]) -> str:
    """The fastest of ours against the fastest of others."""
    others = [style for style in times if role(style) == "other"]
    ours = [style for style in times if role(style) not in ("other", "floor")]
    library = min(others, key=lambda style: times[style])
    says = f"The fastest library is {library} with {number(times[library])} ns"
    if not ours:
        return f"{says}."
    own = min(ours, key=lambda style: times[style])
    ratio = times[library] / times[own]
    much = f"{ratio:.1f} times less" if ratio >= 1 else f"{1 / ratio:.1f} times more"
    same = f"{max(ratio, 1 / ratio):.1f}" == "1.0"
    return f"{says}; our {TITLES.get(own, own)} takes {number(times[own])}, {'as much' if same else much}."
