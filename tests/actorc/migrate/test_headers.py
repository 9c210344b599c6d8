"""Includes, guards and `loop`: what surrounds actors."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import KEYWORDS, NEW_TOP, TOP, make, migrate, migrated, tree

ACTOR = "ACTOR Future<Void> f() { wait(delay(1)); return Void(); }\n"
COROUTINE = "Future<Void> f() { co_await (delay(1)); return Void(); }\n"
GUARDED = """\
{before}
// When actually compiled (NO_INTELLISENSE), include the generated version of this file.
// In intellisense use the source version.
#if defined(NO_INTELLISENSE) && !defined(LIB_X_ACTOR_G_H)
#define LIB_X_ACTOR_G_H
#include "lib/x.actor.g.h"
#elif !defined(LIB_X_ACTOR_H)
#define LIB_X_ACTOR_H

#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

ACTOR Future<Void> f();

#include "flow/unactorcompiler.h"
#endif // LIB_X_ACTOR_H
"""


def test_a_file_gets_its_plain_name_and_loses_the_keywords(around: Path) -> None:
    assert migrated(around, {"a.actor.cpp": TOP + "\n" + ACTOR}) == {"a.cpp": NEW_TOP + "\n" + COROUTINE}


def test_of_two_blank_lines_around_what_goes_one_goes_too(around: Path) -> None:
    before = '#include "flow/flow.h"\n\n' + KEYWORDS + "\n" + ACTOR
    assert migrated(around, {"a.actor.cpp": before})["a.cpp"] == '#include "flow/flow.h"\n\n' + COROUTINE


def test_declarations_of_flows_classes_become_an_include(around: Path) -> None:
    text = TOP + "class Void;\nclass Own;\n" + ACTOR
    after = (
        NEW_TOP + '#if __has_include("flow/forward.h")\n#include "flow/forward.h"\n#else\nclass Void;\n#endif\n'
        "class Own;\n" + COROUTINE
    )
    assert migrated(around, {"a.actor.cpp": text})["a.cpp"] == after


@pytest.mark.parametrize("spelling", ["<flow/actorcompiler.h>", '"../flow/actorcompiler.h"', '"flow/actor/keywords.h"'])
def test_the_keywords_are_known_in_every_spelling(spelling: str, around: Path) -> None:
    text = f'#include "flow/flow.h"\n#  include {spelling}\n{ACTOR}'
    assert migrated(around, {"a.actor.cpp": text})["a.cpp"] == '#include "flow/flow.h"\n' + COROUTINE


def test_what_comments_and_strings_say_of_includes_stays(around: Path) -> None:
    text = '#include "flow/flow.h"\n// #include "flow/actorcompiler.h"\nauto s = R"(\n#include "a.actor.h"\n)";\n'
    files = {"a.actor.h": "", "b.actor.cpp": text}
    assert migrated(around, files)["b.cpp"] == text


def test_headers_of_coroutines_come_where_nothing_else_brings_them(around: Path) -> None:
    text = '#include "flow/core/future.h"\n' + KEYWORDS + ACTOR
    after = (
        '#include "flow/core/future.h"\n#include "flow/coro/coroutine.h"\n#include "flow/wait/delay.h"\n' + COROUTINE
    )
    assert migrated(around, {"a.actor.cpp": text})["a.cpp"] == after


def test_the_header_of_race_comes_where_it_is_used(around: Path) -> None:
    body = "ACTOR Future<Void> f(Future<Void> a) { race(a, a); return Void(); }\n"
    text = '#include "flow/core/future.h"\n' + KEYWORDS + body
    assert '#include "flow/combine/race.h"\n' in migrated(around, {"a.actor.cpp": text})["a.cpp"]


def test_flow_h_may_come_from_another_header(around: Path) -> None:
    files = {
        "src/a.actor.cpp": '#include "lib/base.h"\n' + KEYWORDS + ACTOR,
        "include/lib/base.h": '#include "more.h"\n',
        "include/lib/more.h": '#include "flow/flow.h"\n',
    }
    assert migrated(around, files)["src/a.cpp"] == '#include "lib/base.h"\n' + COROUTINE


def test_foundationdb_has_a_header_of_its_own(around: Path) -> None:
    files = {"a.actor.cpp": TOP + ACTOR, "b.actor.cpp": '#include "flow/CoroUtils.h"\n' + KEYWORDS + ACTOR}
    after = migrated(around, files, "--target=foundationdb")
    assert after["a.cpp"] == NEW_TOP + '#include "flow/CoroUtils.h"\n' + COROUTINE
    assert after["b.cpp"] == '#include "flow/CoroUtils.h"\n' + COROUTINE


def test_a_file_without_coroutines_needs_none_of_their_headers(around: Path) -> None:
    text = '#include "flow/core/future.h"\n' + KEYWORDS + "ACTOR Future<Void> f();\n"
    assert migrated(around, {"a.actor.h": text})["a.h"] == '#include "flow/core/future.h"\nFuture<Void> f();\n'


def test_a_file_without_the_keywords_gets_the_header_behind_its_includes(around: Path) -> None:
    text = '#include "flow/core/future.h" // futures\n#include <vector>\nint x;\n' + ACTOR
    after = migrated(around, {"a.actor.cpp": text})["a.cpp"]
    assert after.startswith(
        '#include "flow/core/future.h" // futures\n#include <vector>\n#include "flow/coro/coroutine.h"\n'
    )


@pytest.mark.parametrize("actor", ["ACTOR UNCANCELLABLE Future<Void> f();", "ACTOR void f();"])
def test_a_declaration_of_what_runs_on_needs_them(actor: str, around: Path) -> None:
    text = '#include "flow/core/future.h"\n' + KEYWORDS + actor + "\n"
    after = migrated(around, {"a.actor.h": text})["a.h"]
    assert after.startswith('#include "flow/core/future.h"\n#include "flow/coro/coroutine.h"\n')


def test_a_part_of_a_file_has_no_includes_and_gets_none(around: Path) -> None:
    assert migrated(around, {"part.actor.h": ACTOR}) == {"part.h": COROUTINE}


def test_two_guards_become_one(around: Path) -> None:
    after = migrated(around, {"lib/x.actor.h": GUARDED.format(before="// About x.\n")})
    assert after == {
        "lib/x.h": "// About x.\n\n#ifndef LIB_X_H\n#define LIB_X_H\n\n"
        '#include "flow/flow.h"\n\nFuture<Void> f();\n\n#endif // LIB_X_H\n'
    }


def test_pragma_once_is_guard_enough(around: Path) -> None:
    after = migrated(around, {"lib/x.actor.h": GUARDED.format(before="#pragma once\n")})
    assert after == {"lib/x.h": '#pragma once\n\n#include "flow/flow.h"\n\nFuture<Void> f();\n'}


def test_comments_on_other_things_stay(around: Path) -> None:
    text = GUARDED.format(before="").replace("// When actually", "// Generated keys.\n\n// When actually")
    assert migrated(around, {"lib/x.actor.h": text})["lib/x.h"].startswith("\n// Generated keys.\n\n#ifndef LIB_X_H\n")
    text = "// Generated keys.\n" + GUARDED.format(before="").split("source version.\n")[1]
    assert migrated(around, {"lib/y.actor.h": text})["lib/y.h"].startswith("// Generated keys.\n#")


def test_a_macro_that_another_header_has_is_not_taken_again(around: Path) -> None:
    files = {"lib/x.actor.h": GUARDED.format(before=""), "other/x.h": "#ifndef LIB_X_H\n#define LIB_X_H\n#endif\n"}
    after = migrated(around, files)["lib/x.h"]
    assert after.startswith("\n#pragma once\n\n#include")
    assert "#endif" not in after


def test_guards_within_guards_are_left_alone(around: Path) -> None:
    inner = "#ifdef A\n#define B\n#else\n#define C\n#endif\n"
    text = GUARDED.format(before="").replace("ACTOR Future<Void> f();\n", inner)
    after = migrated(around, {"lib/x.actor.h": text})["lib/x.h"]
    assert inner in after
    assert after.count("#endif") == 2


def test_a_header_with_other_guards_keeps_its_name(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GUARDED.format(before="").replace("#elif !defined(LIB_X_ACTOR_H)", "#else")
    files = {"lib/x.actor.h": text, "a.cpp": '#include "lib/x.actor.h"\n'}
    after = migrated(around, files, status=1)
    assert after["a.cpp"] == files["a.cpp"]
    assert "Future<Void> f();" in after["lib/x.actor.h"]
    assert '#include "lib/x.actor.g.h"' in after["lib/x.actor.h"]
    assert "its guards are not the usual two" in capsys.readouterr().out


def test_includes_follow_in_all_files(around: Path) -> None:
    files = {
        "include/store/table.actor.h": "int table;\n",
        "src/table.actor.cpp": '#include "store/table.actor.h"\n',
        "src/plain.cpp": '#include "store/table.actor.h" // .actor.h\n#  include <store/table.actor.g.h>\n',
        "src/deep/near.hpp": '#include "../../include/store/table.actor.h"\n',
    }
    after = migrated(around, files)
    assert after["src/table.cpp"] == '#include "store/table.h"\n'
    assert after["src/plain.cpp"] == '#include "store/table.h" // .actor.h\n#  include <store/table.h>\n'
    assert after["src/deep/near.hpp"] == '#include "../../include/store/table.h"\n'


def test_a_header_that_is_not_given_keeps_its_name(around: Path) -> None:
    make(around, {"a.actor.cpp": '#include "b.actor.h"\n', "b.actor.h": ""})
    assert migrate("a.actor.cpp", "--write") == 0
    assert tree(around) == {"a.cpp": '#include "b.actor.h"\n', "b.actor.h": ""}


def test_a_header_of_two_with_one_name_is_the_one_beside(around: Path) -> None:
    files = {
        "one/x.actor.h": "",
        "one/a.cpp": '#include "x.actor.h"\n',
        "two/x.actor.h": "ACTOR Future<Void> left();\n",
        "two/a.cpp": '#include "x.actor.h"\n',
    }
    after = migrated(around, files, status=1)
    assert after["one/a.cpp"] == '#include "x.h"\n'
    assert after["two/a.cpp"] == '#include "x.actor.h"\n'


def test_which_of_two_headers_is_meant_may_be_unclear(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"one/x.actor.h": "", "two/x.actor.h": "ACTOR Future<Void> left();\n", "a.cpp": '#include "x.actor.h"\n'}
    assert migrated(around, files, status=1)["a.cpp"] == '#include "x.actor.h"\n'
    assert "a.cpp:1:11: look: `x.actor.h` may be one/x.actor.h and two/x.actor.h" in capsys.readouterr().out


def test_a_file_with_an_actor_that_is_left_stays_an_actor_file(around: Path) -> None:
    text = '#include "flow/core/future.h"\n' + KEYWORDS + "ACTOR Future<Void> left() { return Void(); }\n"
    actor = "ACTOR Future<Void> f(Future<Void> a) { wait(a); return Void(); }\n"
    after = migrated(around, {"a.actor.cpp": text + actor}, status=1)
    coroutines = '#include "flow/coro/coroutine.h"\n'
    new = "Future<Void> f(Future<Void> a) { co_await (a); return Void(); }\n"
    assert after == {"a.actor.cpp": text.replace(KEYWORDS, coroutines + KEYWORDS) + new}


def test_declaration_and_definition_stay_together(around: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "x.actor.h": "ACTOR Future<Void> f(int x);\nACTOR Future<Void> g(int x);\n",
        "x.actor.cpp": "ACTOR Future<Void> f(int x) { wait(g(x)); } // no return\n",
        "y.actor.cpp": "ACTOR Future<Void> g(int x) { return Void(); }\nACTOR static Future<Void> f(int x);\n",
    }
    after = migrated(around, files, status=1)
    assert after == {
        "x.actor.h": "ACTOR Future<Void> f(int x);\nFuture<Void> g(int x);\n",
        "x.actor.cpp": files["x.actor.cpp"],
        "y.cpp": "Future<Void> g(int x) { return Void(); }\nstatic Future<Void> f(int x);\n",
    }
    assert "actor `f` stays: its definition in another place stays an actor" in capsys.readouterr().out


def test_loop_outside_of_actors_is_a_macro_that_goes(around: Path) -> None:
    plain = "void g() {\n    loop {\n        if (flow::loop().now() > 1) break;\n    }\n    for (;;) loop g();\n}\n"
    other = "int loop = 3; // loop {\nstruct loop { int x; };\nauto y = a.loop + loop;\n"
    files = {"a.actor.cpp": plain + other, "b.cpp": '#include "c.actor.h"\n' + plain, "c.cpp": plain}
    after = migrated(around, files)
    new = plain.replace("    loop {", "    while (true) {").replace("loop g", "while (true) g")
    assert after == {"a.cpp": new + other, "b.cpp": '#include "c.actor.h"\n' + new, "c.cpp": plain}


def test_line_ends_and_what_is_not_utf8_are_kept(around: Path) -> None:
    text = ("\ufeff" + TOP + "// a\n" + ACTOR).replace("\n", "\r\n")
    plain = '// \udcff\r\n#include "a.actor.h"\r\n'
    after = migrated(around, {"a.actor.h": text, "b.cpp": plain}, "--target=foundationdb")
    new = "\ufeff" + NEW_TOP + '#include "flow/CoroUtils.h"\n// a\n' + COROUTINE
    assert after == {"a.h": new.replace("\n", "\r\n"), "b.cpp": plain.replace(".actor", "")}
