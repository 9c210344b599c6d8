#pragma once
// What several sources of net/postgres/ do with libpq.

#include "flow/core/future.h"
#include "net/file_descriptor.h"
#include "net/postgres/error.h"

#include <libpq-fe.h>
#include <memory>

namespace flow::net::postgres::internals {

struct FinishConnection {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
using OwnedConnection = std::unique_ptr<PGconn, FinishConnection>;

/// Returns a field of an error or a notice, such as PG_DIAG_SQLSTATE; empty if it has none.
std::string fieldOf(PGresult const* result, int code);

/// Asks the server to cancel what the connection runs now. Ends when the server has heard it. Never fails: what the
/// server then does shows whether it was cancelled. The connection may end before the future.
Future<Void> cancelAtServer(PGconn* connection);

/// Polls until libpq has connected, or has failed. libpq may open another socket for each step.
template <class Poll, class Socket>
Future<bool> pollToEnd(Poll poll, Socket socket) {
    for (PostgresPollingStatusType next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = poll()) {
        if (next == PGRES_POLLING_FAILED)
            co_return false;
        FileDescriptor descriptor(socket());
        if (next == PGRES_POLLING_READING)
            co_await descriptor.readable();
        else
            co_await descriptor.writable();
    }
    co_return true;
}

} // namespace flow::net::postgres::internals
