#include "flow/combine/get_all.h"

#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <memory>
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

TEST_CASE("getAll: a value that nobody else refers to is moved, and so is one that cannot be copied") {
    test::Balance balance;
    using Numbers = std::vector<std::unique_ptr<int>>;
    Numbers one;
    one.push_back(std::make_unique<int>(6));
    std::vector<Future<Numbers>> futures;
    futures.push_back(std::move(one));
    CHECK(*getAll(futures).get().at(0).at(0) == 6);
    std::vector<Future<std::shared_ptr<int>>> shared;
    shared.push_back(std::make_shared<int>(7));
    Future<std::shared_ptr<int>> kept = std::make_shared<int>(8);
    shared.push_back(kept);
    Future<std::vector<std::shared_ptr<int>>> all = getAll(std::move(shared));
    CHECK(all.get().at(0).use_count() == 1);
    CHECK(all.get().at(1) == kept.get());
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
