"""Programs in which `tools/fuzz --migrate` found a difference once, made small, with the numbers that showed it."""

from __future__ import annotations

import pytest

from actorc_migrate.settings import TARGETS
from fuzzlib.batch import Program, check
from fuzzlib.forms import migrated_forms
from fuzzlib.toolchain import TOOLCHAINS

FOUND = {
    "the result of a branch is declared behind the states of the branch before it": Program(
        """\
ACTOR Future<int> child1(Future<int> p0, FutureStream<int> p1) {
    while (pick(3) != 0) {
        choose {
            when(state int s3 = waitNext(p1)) {
                state Token s9 = Token("child1.s9");
            }
            when(state Token s7 = wait(newToken(6))) {
            }
        }
    }
    return 2;
}
ACTOR Future<int> root(Token token, int n) {
    keep(0, child1(Future<int>(2), stream(4)));
    return 0;
}
""",
        1489000,
    ),
    "making the second operand makes the first one ready, and is ready itself": Program(
        """\
ACTOR Future<int> child1() {
    fill(1, 3);
    wait(signal(3));
    return 7;
}
ACTOR Future<int> root(Token token, int n) {
    choose {
        when(int x4 = wait(slot(1))) {
        }
        when(int x7 = wait(child1())) {
        }
    }
    return 1;
}
""",
        0,
    ),
    "making the second operand makes the first one ready, and the third is still made": Program(
        """\
ACTOR Future<int> child1() {
    fill(1, 3);
    wait(signal(3));
    return 7;
}
ACTOR Future<int> root(Token token, int n) {
    choose {
        when(int x4 = wait(slot(1))) {
        }
        when(int x7 = wait(child1())) {
        }
        when(n = wait(number(9))) {
        }
    }
    return n;
}
""",
        0,
    ),
    "a stream that is made last wins against what became ready before": Program(
        """\
ACTOR Future<int> child1(Promise<int> p0) {
    p0.send(3);
    wait(signal(3));
    return 7;
}
ACTOR Future<int> root(Token token, int n) {
    state Promise<int> s1;
    state Future<int> s2 = s1.getFuture();
    choose {
        when(int x4 = waitNext(stream(4))) {
        }
        when(int x5 = wait(s2)) {
        }
        when(int x6 = wait(child1(s1))) {
        }
        when(auto x7 = waitNext(stream(7))) {
            see(8, x7);
        }
    }
    return 1;
}
""",
        170,
    ),
    "an actor that has been cancelled makes its first operand only": Program(
        """\
ACTOR Future<int> root(Token token, int n) {
    try {
        wait(signal(1));
    }
    catch (Error& e2) {
        choose {
            when(int x3 = wait(number(3))) {
            }
            when(wait(signal(4))) {
            }
        }
    }
    return n;
}
""",
        260,
    ),
    "a cancelled actor destroys its locals before its operand": Program(
        """\
ACTOR Future<int> root(Token token, int n) {
    try {
        wait(signal(1));
    }
    catch (Error& e2) {
        Token t3("root.t3");
        choose {
            when(wait(signal(4))) {
            }
            when(wait(signal(5))) {
            }
        }
    }
    return n;
}
""",
        80,
    ),
    "operands are destroyed in their order if a later one throws": Program(
        """\
ACTOR Future<int> root(Token token, int n) {
    choose {
        when(wait(signal(2))) {
        }
        when(wait(signal(3))) {
        }
        when(wait(signal(4))) {
        }
    }
    return 6;
}
""",
        130,
    ),
}


@pytest.mark.parametrize("toolchain", ["clang", "gcc"])
def test_programs_that_differed(toolchain: str) -> None:
    if not TOOLCHAINS[toolchain].is_there:
        pytest.skip("this compiler is not here")
    found = check(list(FOUND.values()), TOOLCHAINS[toolchain], forms=migrated_forms(TARGETS))
    named = {program: name for name, program in FOUND.items()}
    assert [f"{named[each.program]}: {each.kind} {each.message}" for each in found] == []
