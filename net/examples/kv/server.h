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

/// A message from one server to another. The reply says that it has arrived; so a connection that is silent is noticed.
struct MessageRequest {
    constexpr static FileIdentifier file_identifier = 7301;

    Message message;
    net::Address from; // where its sender listens
    net::ReplyPromise<Void> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, message, from, reply);
    }
};

/// From a client.
struct StoreRequest {
    constexpr static FileIdentifier file_identifier = 7302;

    Request request;
    net::ReplyPromise<Reply> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, request, reply);
    }
};

constexpr int kMessages = net::WLTOKEN_FIRST_AVAILABLE; // well-known endpoints of a server
constexpr int kRequests = kMessages + 1;
/// Bytes of a key and values together; a larger request fails with value_too_large.
constexpr std::size_t kLargestRequest = 1 << 20;

struct ServerOptions {
    int id = 0;
    int servers = 3;
    std::vector<net::Address> addresses; // where servers may be
    net::Address listenAt;
    std::string journal;        // path of the files
    Witness* witness = nullptr; // null: none
};

/// Ends only by an error.
Future<Void> runServer(ServerOptions options);

} // namespace kv
