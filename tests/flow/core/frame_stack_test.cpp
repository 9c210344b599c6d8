#include "flow/core/detail/frame_stack.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

using namespace flow;

namespace {

std::vector<std::string> ended;

Future<int> ending(std::string name, Future<int> what) {
    try {
        int value = co_await std::move(what);
        co_return value;
    } catch (...) {
        ended.push_back(name);
        throw;
    }
}

} // namespace

TEST_CASE("frame stack: what a frame waits for ends before it, and so on") {
    SimLoop loop;
    ended.clear();
    Future<int> last = ending("third", ending("second", ending("first", Never())));
    last = Future<int>();
    CHECK(ended == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("frame stack: what several wait for stays until the last of them has ended") {
    SimLoop loop;
    ended.clear();
    Future<int> shared = ending("shared", Never());
    Future<int> one = ending("one", shared), two = ending("two", shared);
    shared = Future<int>();
    one = Future<int>();
    CHECK(ended == std::vector<std::string>{"one"});
    two = Future<int>();
    CHECK(ended == std::vector<std::string>{"one", "shared", "two"});
}

TEST_CASE("frame stack: a long chain needs no stack") {
    SimLoop loop;
    ended.clear();
    Future<int> last = Never();
    for (int i = 0; i < 100'000; ++i)
        last = ending("", std::move(last));
    last = Future<int>();
    CHECK(ended.size() == 100'000);
}
