"""What only has to be there: the C++ compiler warns of nothing that actorc kept it from warning of."""

from __future__ import annotations

from pathlib import Path

import pytest
from conversions import converted
from test_compiled_tree import compiles
from trees import TOP, migrated

ACTORS = """\
struct Plain {};
struct Guard {
    explicit Guard(int) {}
    ~Guard() {}
};
Future<Void> later(Guard const& guard);
ACTOR Future<int> answer(Guard guard, int n, const std::string& text, Future<std::pair<int, int>> both) {
    state int never = 3;
    state int set;
    state Plain plain;
    state Guard held(n);
    int first = wait(Future<int>(1));
    auto [a, b] = wait(both);
    state int kept = wait(Future<int>(2));
    set = 4;
    loop {
        state int each = 5;
        state int moved = 6;
        choose {
            when(state int third = wait(Future<int>(3))) {
            }
            when(int fourth = wait(Future<int>(4))) {
                break;
            }
        }
        wait(delay(1.0));
        set = 7;
        moved++;
    }
    {
        Guard other(1);
        wait(delay(2.0));
    }
    Guard other(2);
    wait(later(other));
    return n;
}
ACTOR template <class... Ts>
Future<Void> ignore(Ts... values) {
    wait(delay(1.0));
    return Void();
}
Future<Void> lambda(int n) {
    return ACTOR [n, guard = Guard(3)](int m) -> Future<Void> {
        wait(delay(1.0));
        return Void();
    }(4) && ignore(n, 2);
}
ACTOR Future<Void> declared(int n);
"""


@pytest.mark.parametrize("style", ["exact", "idiomatic"])
def test_no_warnings(style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    migrated(tmp_path, {"a.actor.cpp": TOP + ACTORS}, f"--style={style}")
    compiles(tmp_path, "a.cpp")


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("state int x = 1; wait(delay(1));", True),
        ("state int x; x = 1; wait(delay(1)); if (now()) x += 2;", True),
        ("state int x; x = 1; wait(delay(x));", False),
        ("state int x; wait(f(x = 1));", False),
        ("state Guard x(1); wait(delay(1));", True),  # its destructor is not known here
        ("state std::string x; wait(delay(1));", False),
        ("state Reference<Guard> x; wait(delay(1));", False),
        ("int x = wait(g());", True),
        ("int x = wait(g()); use(x);", False),
        ("auto x = wait(g());", True),
        ("loop { use(x); state int x = 1; wait(delay(x)); }", False),
    ],
)
def test_what_is_marked(body: str, mark: bool) -> None:
    assert ("[[maybe_unused]]" in converted(f"ACTOR void f() {{ {body} }}").text) is mark


@pytest.mark.parametrize(
    ("body", "mark"),
    [("wait(delay(1));", True), ("wait(delay(n));", False), ("wait(delay(self->n));", True), ("use(&n);", False)],
)
def test_parameters_that_are_marked(body: str, mark: bool) -> None:
    text = converted(f"ACTOR void f(int n) {{ {body} }}").text
    assert text.startswith(f"flow::coro::Detached f({'[[maybe_unused]] ' if mark else ''}int n) {{")
