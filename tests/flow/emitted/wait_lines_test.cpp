#include "flow/emitted/wait_lines.h"

#include <doctest/doctest.h>
#include <string_view>

using namespace flow;

namespace {

struct Emitted {
    FLOW_WAITS(10, 12, 15)
};
struct Handwritten {};

} // namespace

TEST_CASE("wait lines: the actor's line and those of its waits, by number") {
    constexpr auto waits = actor::waitLinesOf<Emitted>();
    static_assert(waits.count == 3);
    CHECK(waits.lines[0] == 10);
    CHECK(waits.lines[1] == 12);
    CHECK(waits.lines[2] == 15);
    CHECK(std::string_view(waits.file).ends_with("wait_lines_test.cpp"));
}

TEST_CASE("wait lines: a state that says nothing has none") {
    constexpr auto waits = actor::waitLinesOf<Handwritten>();
    CHECK(waits.count == 0);
    CHECK(std::string_view(waits.file).empty());
}
