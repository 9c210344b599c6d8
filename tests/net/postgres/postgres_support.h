#pragma once
// What the tests with a real PostgreSQL share. tests/net/postgres/check_postgres.py starts the server.

#include "flow/loop/real_loop.h"
#include "net/postgres/pool.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace flow::test {

namespace postgres = flow::net::postgres;

/// The text by which libpq connects to the server.
inline std::string serverUrl() {
    char const* url = std::getenv("MILLRACE_POSTGRES");
    REQUIRE_MESSAGE(url, "start this program by tests/net/postgres/check_postgres.py");
    return url;
}

/// Runs a coroutine that takes a connection, on a loop of its own, and checks that nothing is left of it.
template <class Test>
void withConnection(Test test, postgres::Options options = {}) {
    Balance balance;
    RealLoop loop;
    auto run = [](Test* body, postgres::Options given) -> Future<Void> {
        postgres::Connection db = co_await postgres::connect(serverUrl(), given);
        co_await (*body)(&db);
    };
    loop.run(run(&test, options));
}

/// The code of the error with which a future fails; 0 if it does not fail.
template <class T>
Future<int> codeOf(Future<T> future) {
    ErrorOr<T> result = co_await coro::outcome(std::move(future));
    co_return result.isError() ? result.getError().code() : 0;
}

/// The error with which a future fails.
template <class T>
Future<Error> errorIn(Future<T> future) {
    ErrorOr<T> result = co_await coro::outcome(std::move(future));
    co_return result.isError() ? result.getError() : Error();
}

} // namespace flow::test
