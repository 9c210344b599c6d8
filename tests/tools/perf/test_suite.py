"""How the commands of tools/bench choose benchmarks."""

import pytest

from perf.arguments import MANY, UsageError, unknown
from perf.suite import choose, compiled, escape, of_sizes, rows_of

NAMES = ["NET2/8/actor", "NET2/64/actor", "YIELD/64/actor", "map/library", "NET2/64/fiber"]


def test_choosing_by_name_in_our_styles() -> None:
    assert choose(NAMES, "NET2") == ["NET2/8/actor", "NET2/64/actor"]
    assert choose(NAMES, "") == NAMES[:-1]


def test_choosing_by_size() -> None:
    assert of_sizes(NAMES, (64, 4096)) == ["NET2/64/actor", "YIELD/64/actor", "map/library", "NET2/64/fiber"]


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("net2", "did you mean NET2 or NET2/8 or NET2/64?"),
        ("YEILD", "did you mean YIELD"),
        ("NET2/63", "did you mean NET2/64"),
        ("YIELD/64/actr", "did you mean YIELD/64/actor"),
        ("qqqq", "try NET2, YIELD, map, NET2/8, NET2/64"),
    ],
)
def test_what_is_not_there_gets_the_nearest_names(pattern: str, near: str) -> None:
    with pytest.raises(UsageError) as error:
        choose(NAMES, pattern)
    assert str(error.value).startswith(f"there is no benchmark '{pattern}'; {near}")


def test_a_pattern_that_is_none_is_said_before_anything_runs() -> None:
    with pytest.raises(UsageError, match=r"'NET2\(' is no regular expression: missing \)"):
        compiled("NET2(")


def test_of_very_many_names_some_are_said() -> None:
    text = unknown("benchmark", "xyz", map(str, range(100)))
    assert text.endswith(f" {MANY - 1}, ...")


def test_each_row_is_run_by_itself_and_the_library_at_once() -> None:
    names = ["NET2/8/actor", "NET2/64/actor", "map/library", "NET2/8/coroutine", "quorum/library"]
    assert rows_of(names) == [
        ["NET2/8/actor", "NET2/8/coroutine"],
        ["NET2/64/actor"],
        ["map/library", "quorum/library"],
    ]


def test_names_are_taken_literally_in_a_filter() -> None:
    assert escape("create_ready<Void>/1/actor") == "create_ready<Void>/1/actor"
    assert escape("a.b(c)|d") == r"a\.b\(c\)\|d"
