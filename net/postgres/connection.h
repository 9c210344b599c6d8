#pragma once
// Connection: a connection to a PostgreSQL server. For a pool of them see net/postgres/pool.h.
//
//     postgres::Connection db = co_await postgres::connect("postgresql://app@db.example/shop");
//
//     auto cheap = co_await db.query<std::tuple<int, std::string>>("SELECT id, name FROM item WHERE price < $1", 100);
//     Item item = co_await db.one<Item>("SELECT id, name, price FROM item WHERE id = $1", 7);     // exactly one row
//     auto found = co_await db.maybe<Item>("SELECT id, name, price FROM item WHERE name = $1", "pear");
//     std::uint64_t changed = co_await db.execute("UPDATE item SET price = price * 2");
//     co_await db.execute(postgres::Sql("DELETE FROM item", here));              // with a span of the request's trace
//
//     postgres::Transaction change = co_await db.begin();
//     co_await change.execute("UPDATE account SET amount = amount - $1 WHERE id = $2", 10, from);
//     co_await change.execute("UPDATE account SET amount = amount + $1 WHERE id = $2", 10, to);
//     co_await change.commit();                                        // without it, all is rolled back
//
// Any number of tasks share a connection. Their queries are sent without a wait for earlier answers (pipelining), each
// with its own Sync, so an error of one leaves the others alone. Tasks that call at the same time are in no order. A
// statement is prepared when it first runs, and kept: so use parameters, $1 and so on, rather than values in its text.
// A transaction and a stream have the connection alone: others wait for their end. A task that waits for a query of the
// Connection while it has a Transaction of it waits forever: call the Transaction.
//
// Cancel safety. A query that is dropped before it is sent has done nothing. If it was sent, it may or may not have
// been done. Its connection then cancels it at the server, and sends other queries after the answer; if this takes
// longer than Options::cleanUp, the connection is closed. A cancel could hit another task's query: so if others have
// been sent, the dropped one runs to its end, and its answer is thrown away. Dropping a Transaction rolls it back.
// This work is shielded (flow/tasks/scope.h): loop.run(f) returns after it.
//
// Errors: net/postgres/error.h. After connection_failed each call fails with it: make a new connection, as a pool does.
// connect() also fails with connection_string_invalid. A row that does not fit: net/postgres/value.h.
//
// A Connection is a handle: copies are the same connection, which is closed after the last copy and the last query. It
// belongs to the loop on which it was made, which must be a RealLoop.

#include "flow/base/seconds.h"
#include "flow/coro/coroutine.h"
#include "flow/sync/semaphore.h"
#include "flow/trace/request_value.h"
#include "net/postgres/stream.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flow::net::postgres {

struct Options {
    Seconds connectTimeout = 10;  // for each host; `connect_timeout` of the text is the stronger one
    Seconds cleanUp = 5;          // the longest time for the cancel of a dropped query, and for a ROLLBACK
    std::size_t inFlight = 64;    // the most queries that are sent and not answered; 1: no pipelining
    std::size_t statements = 256; // the most prepared statements that are kept; at least 1
};

/// The text of a query, and the request that it belongs to.
struct Sql {
    Sql(char const* t, RequestContext h = {}) : text(t), here(std::move(h)) {}
    Sql(std::string t, RequestContext h = {}) : text(std::move(t)), here(std::move(h)) {}

    std::string text;
    RequestContext here;
};

namespace internals {
constexpr std::size_t kAnyColumns = ~std::size_t(0);
enum class StreamKind : std::uint8_t { Rows, CopyIn, CopyOut };
[[noreturn]] void failForRows(std::size_t found, char const* wanted);

template <class Row>
Future<std::vector<Row>> allRows(Future<Result> answer, Propagate = {}) {
    Result result = co_await std::move(answer);
    std::vector<Row> rows;
    rows.reserve(result.rows());
    for (std::size_t i = 0; i < result.rows(); ++i)
        rows.push_back(result.row<Row>(i));
    co_return rows;
}
template <class Row>
Future<std::optional<Row>> firstRow(Future<Result> answer, Propagate = {}) {
    Result result = co_await std::move(answer);
    if (result.rows() > 1)
        failForRows(result.rows(), "at most one");
    co_return result.rows() == 0 ? std::optional<Row>() : std::optional<Row>(result.row<Row>(0));
}
template <class Row>
Future<Row> onlyRow(Future<Result> answer, Propagate = {}) {
    Result result = co_await std::move(answer);
    if (result.rows() != 1)
        failForRows(result.rows(), "one");
    co_return result.row<Row>(0);
}
template <class Row>
Future<Rows<Row>> rowsOf(Future<std::unique_ptr<Stream>> opened, Propagate = {}) {
    std::unique_ptr<Stream> stream = co_await std::move(opened);
    co_return Rows<Row>(std::move(stream));
}
} // namespace internals

/// What runs queries: a Connection, a Transaction, a Pool.
class Queries {
public:
    template <class Row, class... P>
    Future<std::vector<Row>> query(Sql sql, P const&... parameters) {
        return internals::allRows<Row>(run(std::move(sql), vectorOf(parameters...), Result::columnsOf<Row>()));
    }
    /// Fails with client_invalid_operation if there is not exactly one row.
    template <class Row, class... P>
    Future<Row> one(Sql sql, P const&... parameters) {
        return internals::onlyRow<Row>(run(std::move(sql), vectorOf(parameters...), Result::columnsOf<Row>()));
    }
    /// The result is empty if there is no row. Fails with client_invalid_operation if there are several.
    template <class Row, class... P>
    Future<std::optional<Row>> maybe(Sql sql, P const&... parameters) {
        return internals::firstRow<Row>(run(std::move(sql), vectorOf(parameters...), Result::columnsOf<Row>()));
    }
    /// Returns the number of rows that the statement has changed or found.
    template <class... P>
    Future<std::uint64_t> execute(Sql sql, P const&... parameters) {
        return affected(run(std::move(sql), vectorOf(parameters...)));
    }
    /// Returns the rows one after another, with bounded memory: net/postgres/stream.h.
    template <class Row, class... P>
    Future<Rows<Row>> stream(Sql sql, P const&... parameters) {
        return internals::rowsOf<Row>(
            open(internals::StreamKind::Rows, std::move(sql), vectorOf(parameters...), Result::columnsOf<Row>()));
    }
    Future<CopyIn> copyIn(Sql sql);
    Future<CopyOut> copyOut(Sql sql);

    /// For parameters and columns that are known at run time only.
    Future<Result> run(Sql sql, std::vector<Parameter> parameters, std::size_t columns = internals::kAnyColumns);

protected:
    Queries() = default;
    Queries(Queries const&) = default;
    Queries& operator=(Queries const&) = default;
    ~Queries() = default;

    virtual Future<internals::Use> use() = 0;

private:
    Future<std::unique_ptr<internals::Stream>> open(internals::StreamKind kind, Sql sql,
                                                    std::vector<Parameter> parameters, std::size_t columns);
    static Future<std::uint64_t> affected(Future<Result> answer, Propagate = {});
    template <class... P>
    static std::vector<Parameter> vectorOf(P const&... parameters) {
        std::vector<Parameter> all;
        all.reserve(sizeof...(P));
        (all.emplace_back(parameters), ...);
        return all;
    }
};

class Transaction;
namespace internals {
Future<Transaction> begin(Future<Use> acquiring, std::string mode);
}

class Connection final : public Queries {
public:
    explicit Connection(internals::Use use) : use_(std::move(use)) {}

    /// Begins a transaction when nothing else uses the connection. `mode` is what follows BEGIN, such as "ISOLATION
    /// LEVEL SERIALIZABLE". Run a transaction again after an error for which mayRunAgain() is true.
    Future<Transaction> begin(std::string mode = {});
    /// Runs several statements, without parameters, as psql does: such as the file of a schema.
    Future<Void> script(std::string text);
    /// Begins to listen. The connection stays usable for queries.
    Future<Notifications> listen(std::string channel);

    /// False after connection_failed.
    bool isUsable() const;
    /// The number of the server's process, as in pg_stat_activity.
    int process() const;

private:
    Future<internals::Use> use() override { return use_; }

    internals::Use use_;
};

/// A transaction, which has its connection alone. Its destructor rolls it back, unless it was committed. It must
/// outlive its queries and streams.
class Transaction final : public Queries {
public:
    Transaction(internals::Use use, Semaphore::Permit place);
    Transaction(Transaction&&) noexcept = default;
    Transaction& operator=(Transaction&& other) noexcept;
    ~Transaction();

    /// If this fails with connection_failed, or is cancelled, the transaction may or may not be committed. After an
    /// error of an earlier query it fails with query_failed, 25P02, and nothing is committed.
    Future<Void> commit();
    Future<Void> rollBack();

private:
    Future<internals::Use> use() override;
    Future<Void> end(char const* how);
    void giveUp() noexcept;

    internals::Use use_;
    Semaphore::Permit place_; // all places of the connection
};

/// Connects to the first host that accepts. Cancel-safe: nothing is left of the attempt. `url` is one of libpq's
/// connection strings, "postgresql://..." or "host=... dbname=..."; what it leaves out comes from libpq's environment
/// variables and defaults. It may have several hosts; each name is resolved by the loop's resolver. sslmode,
/// target_session_attrs and all other settings mean the same as in libpq.
Future<Connection> connect(std::string url, Options options = {});

} // namespace flow::net::postgres
