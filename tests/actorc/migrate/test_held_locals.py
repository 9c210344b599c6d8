"""Locals that a wait ends: what is held in a std::optional, and what is a reference and stays as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversions import converted
from test_compiled_tree import compiles
from trees import TOP, migrated

DECLARED = """\
struct Guard {
    ~Guard() {}
    int n = 0;
};
using Ref = Guard&;
using Again = Ref;
typedef Guard const& Constant;
template <class T> using Of = T&&;
Guard& guard();
"""
REFERENCES = [
    "Ref r = guard(); wait(delay(r.n));",
    "Ref r(guard()), q{guard()}; wait(delay(r.n + q.n));",
    "Again r = guard(); wait(delay(r.n));",
    "Constant r = guard(); wait(delay(r.n));",
    "Of<Guard> r = std::move(guard()); wait(delay(r.n));",
    "if (Ref r = guard(); r.n) { wait(delay(r.n)); }",
    "for (Ref r : all) { wait(delay(r.n)); }",
]


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_references_under_another_name_compile(style: str, tmp_path: Path) -> None:
    actors = [
        f"ACTOR Future<Void> f{number}(std::vector<Guard> all) {{ {body} wait(delay(1)); return Void(); }}\n"
        for number, body in enumerate(REFERENCES)
    ]
    migrated(tmp_path, {"a.actor.cpp": TOP + DECLARED + "".join(actors)}, f"--style={style}")
    compiles(tmp_path, "a.cpp")


@pytest.mark.parametrize("declaration", ["Ref r = guard();", "Constant r(guard());", "Of<Guard> r = made();"])
def test_a_reference_under_another_name_stays(declaration: str) -> None:
    actor = f"ACTOR Future<Void> f() {{ {declaration} wait(g(r)); return Void(); }}"
    for style in ("exact", "idiomatic"):
        found = converted(DECLARED + actor, style)
        assert f"{{ {declaration} co_await g(r);" in found.text
        assert found.codes == []


@pytest.mark.parametrize(
    "declared",
    [
        "// using Ref = Guard&;\n",
        "using Ref = Guard*;\n",
        "using Ref = std::vector<Guard*>;\n",
        "using Ref = Guard&;\nnamespace b { struct Ref { ~Ref(); }; }\n",
        "namespace b { using Ref = Guard; }\nusing Ref = Guard&;\n",
    ],
)
def test_what_may_be_an_object_is_held(declared: str) -> None:
    actor = "ACTOR Future<Void> f() { Ref r = guard(); wait(g(r)); wait(g(1)); return Void(); }"
    assert "std::optional<Ref> rLocal(guard());" in converted(declared + actor).text
