#pragma once
// A server of the replicated store: net/examples/kv/replica.h over requests between processes.
//
//     co_await runServer({.id = 0, .servers = 3, .addresses = {a, b, c}, .listenAt = a, .journal = "data/journal"});
//
// All that was acknowledged stays, whichever processes are killed and started again; a majority of servers must run for
// requests to be answered. The log is kept whole, in memory and on disk. For another server that does not read, 4 MiB
// and one message are queued; messages beyond are lost, and their entries are sent again when it answers.

#include "net/examples/kv/replica.h"
#include "net/rpc/rpc.h"

namespace kv {

struct ServerOptions {
    int id = 0, servers = 3;
    std::vector<net::Address> addresses; // where servers may be
    net::Address listenAt;
    std::string journal;        // path of the files
    Witness* witness = nullptr; // null: none
};

/// Ends only by an error. A request with more bytes of a key and values than kLargestRequest fails with
/// value_too_large.
Future<Void> runServer(ServerOptions options);
constexpr std::size_t kLargestRequest = 1 << 20;

} // namespace kv
