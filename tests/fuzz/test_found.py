"""Programs in which `tools/fuzz --migrate` found a difference once, made small, with the numbers that showed it."""

from __future__ import annotations

import pytest

from actorc.migrate.settings import TARGETS
from fuzzlib.batch import Program, check
from fuzzlib.forms import migrated_forms
from fuzzlib.toolchain import TOOLCHAINS

_ROOT = "ACTOR Future<int> root(Token token, int n) {"
FOUND = {
    "the result of a branch is declared behind the states of the branch before it": Program(
        f"""\
ACTOR Future<int> child1(Future<int> p0, FutureStream<int> p1) {{
    while (pick(3) != 0) {{
        choose {{
            when(state int s3 = waitNext(p1)) {{
                state Token s9 = Token("child1.s9");
            }}
            when(state Token s7 = wait(newToken(6))) {{
            }}
        }}
    }}
    return 2;
}}
{_ROOT}
    keep(0, child1(Future<int>(2), stream(4)));
    return 0;
}}
""",
        1489000,
    ),
}


@pytest.mark.parametrize("toolchain", ["clang", "gcc"])
def test_programs_that_differed(toolchain: str) -> None:
    if not TOOLCHAINS[toolchain].is_there:
        pytest.skip("this compiler is not here")
    found = check(list(FOUND.values()), TOOLCHAINS[toolchain], forms=migrated_forms(TARGETS))
    named = {program: name for name, program in FOUND.items()}
    assert [f"{named[each.program]}: {each.kind} {each.message}" for each in found] == []
