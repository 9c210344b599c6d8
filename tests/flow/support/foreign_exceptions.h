#pragma once
// Helpers for the tests of foreign exceptions: an exception that is no Error, futures that fail with it, and how a
// future ends.

#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace flow::test::foreign {

inline std::atomic<int> alive = 0; // exceptions, of all tests

/// An exception with a member that no Error has.
struct ParseError : std::runtime_error {
    explicit ParseError(int p) : std::runtime_error("bad input"), position(p), count(&alive) {}
    int position;
    struct Count {
        explicit Count(std::atomic<int>* c) : counted(c) { ++*counted; }
        Count(Count const& other) : Count(other.counted) {}
        ~Count() { --*counted; }
        std::atomic<int>* counted;
    } count;
};

/// Checks at its end that no exception and no block of a test is left.
struct Nothing {
    Balance balance;
    int before = alive;
    ~Nothing() { CHECK(alive == before); }
};

inline Future<int> parse(int position, double seconds = 0) {
    if (seconds != 0)
        co_await delay(seconds);
    throw ParseError(position);
}
inline Future<int> timesOut(double seconds = 0) {
    if (seconds != 0)
        co_await delay(seconds);
    throw timed_out();
}
inline Future<int> passOn(Future<int> from, Propagate = {}) {
    co_return co_await from;
}
inline Future<int> passOnByThrow(Future<int> from) {
    co_return co_await from;
}
/// Describes how a future ends.
template <class F>
Future<std::string> endOf(F what) {
    try {
        co_await std::move(what);
    } catch (ParseError const& e) {
        co_return "ParseError " + std::to_string(e.position);
    } catch (std::exception const& e) {
        co_return std::string("exception ") + e.what();
    } catch (Error const& e) {
        co_return e.name();
    } catch (int number) {
        co_return "int " + std::to_string(number);
    }
    co_return "value";
}
template <class F>
std::string end(F what) {
    return Loop::current().run(endOf(std::move(what)));
}

} // namespace flow::test::foreign
