"""Macros of the headers that programs include: all have a prefix, and other libraries of tests keep theirs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ('#include "flow/flow.h"\n', '#include "flow/flow.h"\n#include "flow/test.h"\n')
COMPILERS = ("clang++-19", "g++")
FLAGS = ("-std=c++20", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-")

# A test in the words of each library, which Millrace's macros of the same names would not compile.
OTHERS = {
    "gtest/gtest.h": 'TEST(Sum, two) { ASSERT_EQ(1 + 1, 2) << "sum"; ASSERT_NEAR(1.0, 1.1, 0.2) << "near"; }\n',
    "catch2/catch.hpp": 'TEST_CASE("sum", "[numbers]") { REQUIRE(1 + 1 == 2); SECTION("part") { CHECK(true); } }\n',
    "doctest/doctest.h": 'TEST_CASE("sum" * doctest::timeout(1)) { REQUIRE_EQ(1 + 1, 2); SUBCASE("part") {} }\n',
}
# The prefixed names are Millrace's beside each of them.
PREFIXED = """\
FLOW_TEST_CASE("/sum") {
    FLOW_ASSERT_EQ(1 + 1, 2);
    FLOW_CODE_PROBE(true, "sums are made");
    co_return;
}
"""


def compile_text(compiler: str, text: str, *flags: str) -> str:
    done = subprocess.run([compiler, *flags], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("ours", OURS, ids=("flow.h", "test.h"))
@pytest.mark.parametrize("other", OTHERS)
def test_another_library_of_tests_keeps_its_macros_in_either_order(other: str, ours: str, compiler: str) -> None:
    theirs = f"#include <{other}>\n"
    for includes in (ours + theirs, theirs + ours):
        compile_text(compiler, includes + OTHERS[other] + PREFIXED, *FLAGS)


def test_macros_of_the_umbrellas_have_a_prefix() -> None:
    flags = ("-std=c++20", f"-I{ROOT}", "-E", "-dD", "-x", "c++", "-")
    text = compile_text("clang++-19", '#include "flow/flow.h"\n#include "flow/sim.h"\n', *flags)
    ours, file = set[str](), ""
    for line in text.splitlines():
        if place := re.match(r'# \d+ "([^"]+)"', line):
            file = place[1]
        elif file.startswith(f"{ROOT}/") and (defined := re.match(r"#define (\w+)", line)):
            ours.add(defined[1])
    assert "FLOW_ASSERT" in ours
    assert sorted(name for name in ours if not name.startswith(("FLOW_", "MILLRACE_"))) == []
