// Programs say `using namespace flow;`, so that every name there which is not for them may clash with one of theirs.

#include "flow/flow.h"

#include <doctest/doctest.h>

namespace {
struct Cell {};
struct Frame {};
struct Link {};
struct Waiter {};
struct Result {};
struct Heap {};
struct Awaiter {};
int run() {
    return 1;
}
int park() {
    return 2;
}
int publish() {
    return 3;
}
} // namespace

using namespace flow;

TEST_CASE("names that the runtime keeps to itself do not clash with a program's own") {
    [[maybe_unused]] Cell cell;
    [[maybe_unused]] Frame frame;
    [[maybe_unused]] Link link;
    [[maybe_unused]] Waiter waiter;
    [[maybe_unused]] Result result;
    [[maybe_unused]] Heap heap;
    [[maybe_unused]] Awaiter awaiter;
    CHECK(run() + park() + publish() == 6);
}
