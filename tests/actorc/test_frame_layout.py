"""Layouts of frames as data: sizes of blocks, gaps, waste."""

from __future__ import annotations

import subprocess
from pathlib import Path

from actorc_frames.layout import COROUTINE, Layout, Member, block_bytes, filled
from actorc_frames.tables import details, grouped, summary

ROOT = Path(__file__).parents[2]
LARGEST = 5000


def layout(function: str, *members: Member, size: int, style: str = COROUTINE) -> Layout:
    return Layout(function, "f.cpp", 1, style, "clang++-19", size, filled(members, size))


def test_blocks_are_those_of_the_allocator(tmp_path: Path) -> None:
    program = tmp_path / "blocks.cpp"
    program.write_text(
        '#include "flow/memory/fast_allocator.h"\n#include <cstdio>\nusing namespace flow::memory;\n'
        f"int main() {{ for (std::size_t n = 0; n <= {LARGEST}; ++n) {{ SizeClass c = sizeClassOf(n);\n"
        'std::printf("%zu\\n", c == kSystemClass ? n : blockBytes(c)); } }\n'
    )
    binary = tmp_path / "blocks"
    subprocess.run(["g++", "-std=c++20", "-I", str(ROOT), str(program), "-o", str(binary)], check=True)
    printed = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split()
    assert [block_bytes(size) for size in range(LARGEST + 1)] == [int(line) for line in printed]


def test_gaps_are_padding_and_what_the_block_has_more_is_rounding() -> None:
    members = filled([Member("b", 24, 4, "variable"), Member("a", 0, 8, "parameter")], 40)
    assert [(each.name or each.kind, each.offset, each.size) for each in members] == [
        ("a", 0, 8),
        ("padding", 8, 16),
        ("b", 24, 4),
        ("padding", 28, 12),
        ("rounding", 40, 8),
    ]


def test_members_that_share_bytes_are_counted_once() -> None:
    members = filled([Member("a", 0, 16, "variable"), Member("b", 8, 16, "variable"), Member("c", 8, 4, "wait")], 32)
    assert sum(each.size for each in members) == 32
    assert [each.name for each in members] == ["a", "b", ""]


def test_waste_is_what_is_neither_the_authors_nor_the_same_everywhere() -> None:
    found = layout("f", Member("cell", 0, 72, "cell"), Member("x", 72, 8, "parameter"), size=88)
    assert (found.block, found.own, found.waste) == (96, 8, 16)


def test_the_most_wasteful_function_comes_first() -> None:
    cell = Member("cell", 0, 72, "cell")
    tight = layout("tight", cell, Member("x", 72, 24, "variable"), size=96)
    loose = layout("loose", cell, Member("x", 72, 1, "variable"), size=80)
    groups = grouped([tight, loose])
    assert [group[0].function for group in groups] == ["loose", "tight"]
    lines = summary(groups).splitlines()
    assert "80 in 80" in lines[1]
    assert lines[2].split()[-1] == "0"
    assert any("padding" in line for line in "\n".join(details(groups[0])).splitlines())
