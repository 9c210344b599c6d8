#pragma once
// A server of the replicated store: the Replica of net/examples/kv/replica.h, with messages by rpc::call().
//
//     co_await runServer({.id = 0, .servers = 3, .addresses = {a, b, c}, .listenAt = a, .journal = "data/journal"});
//
// Acknowledged changes survive, whichever processes are killed and restarted. Requests are answered while a majority of
// servers runs. The whole log is kept, in memory and on disk. For a server that does not read, 4 MiB and one message
// are queued. Further messages are lost, and their entries are sent again when that server answers.

#include "net/examples/kv/replica.h"
#include "net/rpc/rpc.h"

namespace kv {

struct ServerOptions {
    int id = 0, servers = 3;
    std::vector<net::Address> addresses; // where the servers may listen
    net::Address listenAt;
    std::string journal;        // the path of the journal
    Witness* witness = nullptr; // null: none
};

/// Runs a server. The future ends only with an error. A request with a key and values above kLargestRequest bytes fails
/// with value_too_large.
Future<Void> runServer(ServerOptions options);
constexpr std::size_t kLargestRequest = 1 << 20;

} // namespace kv
