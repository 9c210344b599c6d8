#include "flow/lib/get_all.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

TEST_CASE("getAll: the values in the order of the futures") {
    test::Balance balance;
    Promise<std::string> p, q;
    Future<std::vector<std::string>> all = getAll(std::vector<Future<std::string>>{p.getFuture(), q.getFuture()});
    q.send("q");
    CHECK_FALSE(all.isReady());
    p.send("p");
    CHECK((all.get() == std::vector<std::string>{"p", "q"}));
    CHECK(getAll(std::vector<Future<int>>()).get().empty());
    CHECK((getAll(std::vector<Future<int>>{1, 2}).get() == std::vector<int>{1, 2}));
}

TEST_CASE("getAll: the first error is the result; it, and a drop, release the futures") {
    test::Balance balance;
    Promise<int> p, q;
    Future<std::vector<int>> all = getAll(std::vector<Future<int>>{p.getFuture(), q.getFuture()});
    q.sendError(timed_out());
    CHECK(all.getError() == timed_out());
    CHECK(p.getFutureReferenceCount() == 0);
    all = getAll(std::vector<Future<int>>{p.getFuture()});
    CHECK(p.getFutureReferenceCount() > 0);
    all = Future<std::vector<int>>();
    CHECK(p.getFutureReferenceCount() == 0);
}
