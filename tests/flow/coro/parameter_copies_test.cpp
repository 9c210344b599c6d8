#include "flow/coro/parameter_copies.h"

#include <doctest/doctest.h>

using namespace flow;

namespace {

struct Refuses {
    Refuses() = default;
    Refuses(Refuses const&) { throw timed_out(); }
};

Future<int> number(int n) {
    co_return n;
}
Future<int> refused(Refuses, int n) {
    co_return n;
}

} // namespace

TEST_CASE("callWithCopies: the coroutine's future, which has failed if a parameter cannot be copied") {
    CHECK(coro::callWithCopies(number, 3).get() == 3);
    Refuses given;
    CHECK(coro::callWithCopies(refused, given, 3).getError() == timed_out());
}
