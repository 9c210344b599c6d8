"""tools/no_pch.py: the objects that it compiles, of those that Ninja lists."""

import pytest

import no_pch


def listing(*names: str) -> str:
    rules = "CXX_COMPILER__t_unscanned_RelWithDebInfo"
    return "".join(f"{name}: {rules}\n" for name in names) + "all: phony\nlibt.a: CXX_STATIC_LIBRARY_LINKER__t\n"


def test_each_source_is_compiled_once() -> None:
    plain = ["CMakeFiles/flow.dir/flow/a.cpp.o", "tests/CMakeFiles/flow_tests.dir/flow/a.cpp.o"]
    forms = [
        f"tests/CMakeFiles/one-{form}.dir/one-{form}.actors/{form}/programs/one.actor.g.cpp.o"
        for form in ("state-machine", "coroutine")
    ]
    assert no_pch.objects(listing(*plain, *forms)) == [*plain, forms[0]]


@pytest.mark.parametrize(
    "name",
    [
        "tests/CMakeFiles/one-state-machine-editor.dir/programs/one.actor.cpp.o",
        "tests/CMakeFiles/one-migrated.dir/one-migrated.migrated/one.cpp.o",
        "tests/CMakeFiles/mutants.dir/planted/flow/a.cpp.o",
        "tests/CMakeFiles/precompiled_not_optimised.dir/precompiled.cpp.o",
    ],
)
def test_what_is_made_of_other_sources_is_not_compiled(name: str) -> None:
    assert no_pch.objects(listing(name)) == []
