#pragma once
// StoreClient: asks the servers of a replicated store, one request after the other.
//
//     StoreClient store({a, b, c}, id);          // the id must be unique among all clients, past ones too
//     co_await store.ask({.verb = Verb::Put, .key = "colour", .value = "blue"s});
//     Reply reply = co_await store.ask({.verb = Verb::Get, .key = "colour"});

#include "net/examples/kv/server.h"

namespace kv {

class StoreClient {
public:
    StoreClient(std::vector<net::Address> servers, std::uint64_t id) : servers_(std::move(servers)), id_(id) {}

    /// Asks until a server has executed the request. A request is executed at most once. Throws value_too_large. If the
    /// call is cancelled, the request may be executed or not, at any time until the next request is answered.
    Future<Reply> ask(Request request);

private:
    std::vector<net::Address> servers_;
    Optional<net::Address> server_; // the server that has answered last
    std::uint64_t id_, number_ = 0;
};

} // namespace kv
