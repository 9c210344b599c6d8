#include "outbox.h"

#include "net/postgres/pool.h"

using namespace flow;
using namespace flow::net;

namespace {

constexpr char const* kSchema = R"(
CREATE TABLE IF NOT EXISTS webhook (number bigint PRIMARY KEY, receiver text NOT NULL, key bytea NOT NULL,
    type bytea NOT NULL, body bytea NOT NULL, dead bytea NOT NULL);
CREATE SEQUENCE IF NOT EXISTS webhook_life)";
constexpr char const* kPut = "INSERT INTO webhook VALUES ($1, $2, $3, $4, $5, $6)"
                             " ON CONFLICT (number) DO UPDATE SET dead = excluded.dead";

/// A row of the table. What comes from outside may have any bytes, which a text of PostgreSQL may not.
struct Row {
    std::uint64_t number;
    std::string receiver;
    Bytes key, type, body, dead;
};

/// True for errors after which a change may succeed. To make a change twice is the same as to make it once.
bool mayPass(Error error) {
    return error.code() == error_code_connection_failed || error.code() == error_code_timed_out ||
           postgres::mayRunAgain(error) || postgres::sqlState(error).starts_with("53"); // the server lacks something
}

RetryPolicy const kAgain{.attempts = 14, .longest = 4, .retries = mayPass}; // for half a minute

class DatabaseOutbox final : public Outbox {
public:
    explicit DatabaseOutbox(std::string url) : pool_(std::move(url), {.waiters = 100'000}) {}

    Future<Void> load() {
        postgres::Connection db = co_await pool_.acquire();
        co_await db.script(kSchema);
        // The number of an event has that of this life, so no other life or process makes the same number.
        Future<std::uint64_t> counting = db.one<std::uint64_t>("SELECT nextval('webhook_life')");
        last_ = co_await std::move(counting) << 32;
        Future<std::vector<Row>> reading = db.query<Row>("SELECT number, receiver, key, type, body, dead FROM webhook");
        std::vector<Row> rows = co_await std::move(reading);
        for (Row const& row : rows)
            letters_[row.number] = {row.number,          row.receiver,        row.key.toString(),
                                    row.type.toString(), row.body.toString(), row.dead.toString()};
    }

private:
    Future<Void> store(Change change) override {
        auto once = [this, change] { return timeoutError(attempt(change), 10.0); };
        Future<std::uint64_t> storing = retry(kAgain, once);
        co_await std::move(storing);
    }
    Future<std::uint64_t> attempt(Change const& change) {
        if (!change.letter.present())
            return pool_.execute("DELETE FROM webhook WHERE number = $1", change.number);
        Letter const& letter = change.letter.get();
        return pool_.execute(kPut, letter.number, letter.receiver, Bytes(letter.key), Bytes(letter.type),
                             Bytes(letter.body), Bytes(letter.dead));
    }

    postgres::Pool pool_;
};

} // namespace

Future<Reference<Outbox>> openDatabase(std::string url) {
    Reference<DatabaseOutbox> outbox = makeReference<DatabaseOutbox>(url);
    auto load = [outbox] { return outbox->load(); };
    Future<Void> loading = retry(kAgain, load);
    co_await std::move(loading);
    co_return Reference<Outbox>(outbox);
}
