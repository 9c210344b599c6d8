"""What is put into an actor is laid out as its author lays out the rest: indentation, braces, one line or several."""

from __future__ import annotations

import textwrap

import pytest
from conversions import converted

HEAD = "ACTOR Future<Void> f(Server* self, int n)"
CASES = {
    "a handler that waits": (
        """
        {
            try {
                wait(self->a());
            } catch (Error& e) { // why
                wait(self->b());
            }
        }
        """,
        """
        {
            Error caught;
            try {
                co_await self->a();
            } catch (...) {
                caught = flow::currentError();
            }
            if (caught.isValid()) { // why
                co_await self->b();
            }
        }
        """,
    ),
    "two, with comments between the heads": (
        """
        {
            try {
                wait(self->a());
            } /* one */ catch (Foo& foo) /* two */ {
                wait(self->b());
            } /* three */ catch (Error& e) {
                wait(self->c());
            }
        }
        """,
        """
        {
            std::exception_ptr raised;
            Error caught;
            try {
                co_await self->a();
            } /* one */ catch (Foo&) {
                raised = std::current_exception();
            } /* three */ catch (...) {
                caught = flow::currentError();
            }
            if (raised) /* two */ {
                std::exception_ptr kept = std::move(raised);
                co_await self->b();
            } else if (caught.isValid()) {
                co_await self->c();
            }
        }
        """,
    ),
    "braces on lines of their own": (
        """
        {
          try
          {
            wait(self->a());
          }
          // why
          catch (Error& e)
          {
            wait(self->b());
          }
          if (n)
            wait(success(Guard(n)));
          choose
          {
            when(int x = wait(self->get()))
            {
              n = x;
            }
            // or
            when(wait(self->c()))
            {
              n = 0;
            }
          }
        }
        """,
        """
        {
          Error caught;
          try
          {
            co_await self->a();
          }
          // why
          catch (...)
          {
            caught = flow::currentError();
          }
          if (caught.isValid())
          {
            co_await self->b();
          }
          if (n)
          {
            auto operand = success(Guard(n));
            co_await std::move(operand);
          }
          if (auto chosen = co_await flow::race(self->get(), [&] { return self->c(); }); chosen.index() == 0)
          {
            int x = std::get<0>(std::move(chosen));
            n = x;
          }
          else
          {
            // or
            n = 0;
          }
        }
        """,
    ),
    "tabs": (
        """
        {
        \ttry {
        \t\twait(self->a());
        \t} catch (Error& e) {
        \t\twait(self->b());
        \t}
        }
        """,
        """
        {
        \tError caught;
        \ttry {
        \t\tco_await self->a();
        \t} catch (...) {
        \t\tcaught = flow::currentError();
        \t}
        \tif (caught.isValid()) {
        \t\tco_await self->b();
        \t}
        }
        """,
    ),
    "all on one line": (
        "{ try { wait(self->a()); } catch (Error& e) { wait(self->b()); throw; } }",
        "{ Error caught; try { co_await self->a(); } catch (...) { caught = flow::currentError(); } "
        "if (caught.isValid()) { co_await self->b(); throw caught; } }",
    ),
    "a comment above a branch, and one behind the branch before it": (
        """
        {
            choose {
                // one
                when(wait(self->a())) {
                    n = 1;
                } // two
                // three
                when(wait(self->b())) {
                    n = 2;
                }
            }
            choose {
                when(wait(self->c())) {
                    n = 3;
                }
                /* four
                   and five */
                when(wait(self->d())) {
                    n = 4;
                }
            }
        }
        """,
        """
        {
            // one
            if (auto chosen = co_await flow::race(self->a(), [&] { return self->b(); }); chosen.index() == 0) {
                n = 1;
            } // two
            // three
            else {
                n = 2;
            }
            if (auto chosen = co_await flow::race(self->c(), [&] { return self->d(); }); chosen.index() == 0) {
                n = 3;
            } else {
                /* four
                   and five */
                n = 4;
            }
        }
        """,
    ),
    "statements without braces that become several": (
        """
        {
            if (n > 3 &&
                n < 7) // why
                return wait(self->a());
            for (int i : self->all)
                return wait(self->b(i));
            if (n)
                return wait(self->c()); // c
            else if (n > 2)
                return wait(self->d());
            else
                state Guard guard(n);
            if (n) return wait(self->g());
            do
                if (n--) return wait(self->e());
            while (n);
        }
        """,
        """
        {
            if (n > 3 &&
                n < 7) { // why
                co_await self->a(); co_return;
            }
            for (int i : self->all) {
                co_await self->b(i); co_return;
            }
            std::optional<Guard> guardState;
            if (n) {
                co_await self->c(); co_return; // c
            }
            else if (n > 2) {
                co_await self->d(); co_return;
            } else
                guardState.emplace(Guard(n));
            if (n) { co_await self->g(); co_return; }
            do
                if (n--) { co_await self->e(); co_return; }
            while (n);
        }
        """,
    ),
    "branches without braces": (
        """
        {
            choose {
                when(int x = wait(self->get()))
                    use(x);
            }
            choose {
                when(int x = wait(self->get()))
                    use(x);
                when(wait(self->a()))
                    wait(self->b());
            }
            if (n)
                choose {
                    when(int x = wait(self->get()))
                        use(x);
                }
        }
        """,
        """
        {
            { int x = co_await self->get(); use(x); }
            if (auto chosen = co_await flow::race(self->get(), [&] { return self->a(); }); chosen.index() == 0) {
                int x = std::get<0>(std::move(chosen));
                use(x);
            }
            else
                co_await self->b();
            if (n) {
                { int x = co_await self->get(); use(x); }
            }
        }
        """,
    ),
    "sections of a switch": (
        """
        {
            switch (n) {
            case 0: { state Guard a(n); wait(self->a(a)); break; }
            case 1: // one
            case 2: // two
                state Guard b(n);
                wait(self->b(b));
                break; // end
            case 3: state Guard c(n); wait(self->c(c)); break;
            default:
                wait(self->d());
            }
        }
        """,
        """
        {
            std::optional<Guard> aState;
            std::optional<Guard> bState;
            std::optional<Guard> cState;
            switch (n) {
            case 0: { Guard& a = aState.emplace(Guard(n)); co_await self->a(a); break; }
            case 1: // one
            case 2: { // two
                Guard& b = bState.emplace(Guard(n));
                co_await self->b(b);
                break; // end
            }
            case 3: { Guard& c = cState.emplace(Guard(n)); co_await self->c(c); break; }
            default:
                co_await self->d();
            }
        }
        """,
    ),
    "blanks within brackets": (
        """
        {
            Guard a( n,  "x" );
            Guard b{ n };
            wait( self->a( a ) );
            wait( self->b() );
        }
        """,
        """
        {
            std::optional<Guard> aLocal(std::in_place, n,  "x"); Guard& a = *aLocal;
            std::optional<Guard> bLocal(Guard{n});
            auto operand = self->a( a );
            bLocal.reset(); aLocal.reset();
            co_await std::move(operand);
            co_await self->b();
        }
        """,
    ),
}


def text(given: str) -> str:
    return textwrap.dedent(given).strip()


@pytest.mark.parametrize("case", CASES)
def test_exact(case: str) -> None:
    before, after = map(text, CASES[case])
    found = converted(f"{HEAD} {before[:-1]}use(n); return Void(); }}\n")
    assert found.left == {}
    assert found.text == f"Future<Void> f(Server* self, int n) {after[:-1]}use(n); }}\n"


def test_parameters_that_stand_apart() -> None:
    found = converted("ACTOR UNCANCELLABLE Future<int> f( int a,\n    int b ) { return a + b; }\n")
    assert found.text == "Future<int> f( flow::Uncancellable, int a,\n    int b ) { co_return a + b; }\n"
    found = converted("ACTOR UNCANCELLABLE Future<int> f(\n    int a,\n    int b) { return a + b; }\n")
    assert found.text == "Future<int> f(\n    flow::Uncancellable,\n    int a,\n    int b) { co_return a + b; }\n"


def test_names_that_a_file_does_not_use_yet() -> None:
    """Of the library it may see `Future` alone."""
    text = """\
using flow::Future;
ACTOR UNCANCELLABLE Future<int> f(Future<int> a, Server* self) {
    try {
        choose {
            when(int x = wait(self->get(std::string("a")))) { return x; }
            when(int x = wait(self->get(std::string("b")))) { return x; }
        }
    } catch (...) {
        wait(flow::delay(1));
    }
    return 1;
}
"""
    found = converted(text).text
    assert "f(flow::Uncancellable, " in found
    assert "co_await flow::race(" in found
    assert "flow::Error caught;" in found
    found = converted("using namespace flow;\n" + text).text
    assert "f(Uncancellable, " in found
    assert "co_await race(" in found
    assert "\n    Error caught;" in found


def test_a_member_called_race() -> None:
    text = """\
using namespace flow;
struct S {
    void race();
    ACTOR static Future<Void> f(Future<Void> a, Future<Void> b) {
        choose { when(wait(a)) {} when(wait(b)) {} }
        return Void();
    }
};
"""
    assert "co_await flow::race(a, b)" in converted(text).text


@pytest.mark.parametrize("type_", ["Future<int>", "flow::Future<int>", "::flow::Future<int>"])
def test_members_become_static(type_: str) -> None:
    for words in ("ACTOR ", "ACTOR UNCANCELLABLE ", "ACTOR [[nodiscard]] "):
        found = converted(f"struct A {{ {words}{type_} f(A* a); }};\n").text
        assert f"static {type_} f(" in found, found


def test_locals_with_the_name_of_a_state() -> None:
    """It is the state of its block alone that is moved."""
    for other in (
        "if (T t(1); t.n) { wait(delay(1)); }",
        "{ T t(1); n += t.n; }",
        "for (T t(1); t.n < n; n--) use(t);",
    ):
        found = converted(f"{HEAD} {{ {other} if (n) {{ state T t(0); wait(delay(2)); }} return Void(); }}\n").text
        assert "std::optional<T> tState;" in found, found
