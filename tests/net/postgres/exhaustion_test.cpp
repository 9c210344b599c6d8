// Each allocation of each operation fails once: no waiter is left, and answers do not reach other queries. Within the
// operations stand no CHECKs, since doctest allocates.

#include "flow/combine/race.h"
#include "flow/memory/allocation_failure.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/net/postgres/postgres_support.h"

#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

#if !MILLRACE_UNDER_TSAN // it has an operator new of its own
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* block = flow::allocationFails() ? nullptr : std::malloc(bytes);
    if (!block)
        throw std::bad_alloc();
    return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
#endif

namespace {

Future<Void> askTogether(Connection db) {
    std::vector<Future<int>> ends;
    for (int i = 0; i < 3; ++i)
        ends.push_back(codeOf(db.one<int>("SELECT $1::int4", i)));
    ends.push_back(codeOf(db.one<std::string>("SELECT repeat('x', 300)")));
    for (Future<int>& each : ends)
        co_await std::move(each);
}

Future<Void> readRows(Connection db) {
    postgres::Rows<int> rows = co_await db.stream<int>("SELECT generate_series(1, 100)");
    for (;;) {
        std::optional<int> row = co_await rows.next();
        if (!row)
            break;
    }
}

Future<Void> copyInAndOut(Connection db) {
    postgres::CopyIn in = co_await db.copyIn("COPY ran_out FROM STDIN");
    co_await in.write("1\n2\n"_sr);
    co_await in.finish();
    postgres::CopyOut out = co_await db.copyOut("COPY ran_out TO STDOUT");
    for (;;) {
        std::optional<net::Bytes> line = co_await out.next();
        if (!line)
            break;
    }
}

Future<Void> drop(Connection db) {
    Future<std::uint64_t> dropped = db.execute("SELECT pg_sleep(1000)");
    co_await delay(0.005); // it has been sent
    dropped = Future<std::uint64_t>();
    co_await db.one<int>("SELECT 1"); // after the clean-up
}

Future<Void> rollBack(Connection db) {
    {
        postgres::Transaction change = co_await db.begin();
        co_await change.execute("INSERT INTO ran_out VALUES (3)");
    }
    co_await db.one<int>("SELECT 1"); // after the ROLLBACK
}

Future<Void> listen(Connection db) {
    postgres::Notifications news = co_await db.listen("ran_out");
    co_await db.execute("NOTIFY ran_out, 'a text that needs memory of its own'");
    (void)co_await news.next();
}

/// Returns true if there is an allocation with the number `n`.
Future<bool> failAt(Future<Void> (*operation)(Connection), std::uint64_t n) {
    Connection db = co_await postgres::connect(serverUrl());
    co_await db.script("CREATE TEMPORARY TABLE ran_out (number int)");
    bool hasHappened = false;
    {
        AllocationFailure failure(n);
        try {
            auto first = co_await race(operation(db), delay(10.0)); // a lost waiter would wait for ever
            hasHappened = failure.hasHappened();
            CHECK(first.index() == 0);
        } catch (...) {
            hasHappened = true;
            CHECK(failure.hasHappened());
        }
    }
    ErrorOr<int> after = co_await coro::outcome(db.one<int>("SELECT 5"));
    if (after.isError())
        CHECK_FALSE(db.isUsable());
    else
        CHECK(after.get() == 5);
    co_return hasHappened;
}

} // namespace

TEST_CASE("postgres, exhaustion: each allocation of each operation fails once") {
    std::pair<char const*, Future<Void> (*)(Connection)> const operations[] = {
        {"ask", askTogether}, {"rows", readRows},      {"copy", copyInAndOut},
        {"drop", drop},       {"roll back", rollBack}, {"listen", listen}};
    for (auto [name, operation] : operations) {
        INFO(std::string(name));
        std::uint64_t n = 0;
        for (bool goesOn = true; goesOn; ++n) {
            INFO("allocation ", n);
            RealLoop loop;
            goesOn = loop.run(failAt(operation, n));
        }
        CHECK(n > 5);
    }
}
