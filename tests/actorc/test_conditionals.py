"""Files with conditional compilation and odd line ends: actors are found, and all stands on its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from back import BACKENDS, COMPILERS, placed, syntax_errors

from actorc.driver import compile_text
from actorc.source import Source

# `LINE_n` stands on line n: the C++ compiler checks it.
TEXT = """\
#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"
#if 0
ACTOR Future<Void> never(Future<Void> f) {
    wait(f); not C++ at all
    return Void();
}
#endif
#if defined(A) && \\
    defined(B)
struct Outer {
#else
struct Other {
#endif
    int x = 1;
    ACTOR static Future<int> inner(Future<Void> f) {
        wait(f);
        static_assert(__LINE__ == 19);
        return 19;
    }
};
#ifdef A
int before() {
    if (true) {
#else
int after() {
    {
#endif
        return __LINE__;
    }
}
static_assert(__LINE__ == 33);
/* several
   lines */ ACTOR Future<int> last(Future<Void> f) {
    state int sum = 0;
    for (int x : {1, 2}) {
        sum += x;
        wait(f);
        static_assert(__LINE__ == 40);
    }
    switch (sum) {
    case 1:
        wait(f);
        static_assert(__LINE__ == 45);
    }
    return sum;
}
static_assert(__LINE__ == 49);
"""

FORMS = {
    "LF": TEXT.encode(),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "CR": TEXT.replace("\n", "\r").encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "NUL in a comment": TEXT.replace("several", "sev\0eral").encode(),
    "NUL in a comment of an actor": TEXT.replace("sum += x;", "sum += x; // \0").encode(),
    "no line end at the end": TEXT.rstrip("\n").encode(),
    "mixed line ends": TEXT.replace(";\n", ";\r\n").encode(),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_form_stands_on_its_lines(backend: str, tmp_path: Path) -> None:
    """A namespace includes each, so that one run of the compiler does for all."""
    if not COMPILERS:
        pytest.skip("no C++ compiler")
    including = '#include "flow/flow.h"\n#include "flow/actorcompiler.h"\n'
    for number, (form, text) in enumerate(FORMS.items()):
        source = Source.from_bytes(f"{form}.actor.cpp", text)
        path = tmp_path / f"{number}.g.cpp"
        path.write_bytes(source.encode(compile_text(source, backend, str(path))))
        including += f'namespace n{number} {{\n#include "{path}"\n}}\n'
    errors = syntax_errors(including, COMPILERS[-1], tmp_path)
    assert "error" not in errors.replace("null character", "")


def test_lines_that_end_with_cr_alone_are_made_lines() -> None:
    source = Source.from_bytes("test.actor.cpp", b"int a;\rint b;\r")
    assert source.text == "int a;\nint b;\n"
    assert source.line_column(7) == (2, 1)
    assert Source.from_bytes("test.actor.cpp", b"int a;\r\nint\rb;\n").text == "int a;\r\nint\rb;\n"


def test_an_actor_behind_if_0_is_copied() -> None:
    output = compile_text(Source("test.actor.cpp", TEXT), "state-machine", "out.g.cpp")
    lines = [line for _, line in placed(output)]
    start, end = lines.index("#if 0"), lines.index("#endif")
    assert "\n".join(lines[start:end]) in TEXT
    assert not any("NeverActor" in line for line in lines)
