#pragma once
// Pool: a bounded number of connections to PostgreSQL, made when they are needed.
//
//     postgres::Pool pool("postgresql://app@db1,db2/shop?target_session_attrs=primary", {.most = 10});
//
//     auto names = co_await pool.query<std::string>("SELECT name FROM item WHERE price < $1", 100);
//     co_await pool.execute("DELETE FROM item WHERE id = $1", 7);
//
//     co_await retry({.retries = postgres::mayRunAgain}, [&] { return pay(&pool, from, to, 10); });
//
//     Future<Void> pay(postgres::Pool* pool, int from, int to, int amount) {
//         postgres::Transaction change = co_await pool->begin("ISOLATION LEVEL SERIALIZABLE");
//         ...
//         co_await change.commit();
//     }
//
// Each query, transaction and stream takes a connection alone, and gives it back at its end. So a dropped query is
// cancelled at the server, and its connection serves others after that, or is closed. acquire() gives a connection for
// several queries; it goes back when the last copy of the handle is destroyed, and a transaction on it is rolled back.
// A connection that is lost is not kept. The next one is made to the first host that fits, so after a failover to the
// new server.
//
// Errors: those of net/pool.h and net/postgres/connection.h. A query is not repeated if its kept connection turns out
// to be lost: it may have been done. A Pool belongs to one loop, and its connections may outlive it.

#include "net/postgres/connection.h"

namespace flow::net::postgres {

struct PoolOptions {
    Options connection = {};    // of each connection
    std::size_t most = 8;       // the most connections; at least 1
    std::size_t waiters = 1024; // the most callers that may wait for a connection
    Seconds idle = 60;          // seconds after which an unused connection is closed
    std::string name = {};      // shown in reports about callers that wait; empty: none
};

class Pool final : public Queries {
public:
    /// Throws invalid_option_value.
    explicit Pool(std::string url, PoolOptions options = {});
    ~Pool();

    Future<Connection> acquire();
    /// See Connection::begin().
    Future<Transaction> begin(std::string mode = {});
    /// Closes the connections that are not in use. Waiting and later callers fail with operation_obsolete.
    void close() noexcept;

private:
    struct State;
    Future<internals::Use> use() override;

    std::unique_ptr<State> state_;
};

} // namespace flow::net::postgres
