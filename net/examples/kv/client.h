#pragma once
// StoreClient: asks the servers of a replicated store, one request after the other.
//
//     StoreClient store({a, b, c}, id);          // no other client, ever, has this id
//     co_await store.ask({.verb = Verb::Put, .key = "colour", .value = "blue"s});
//     Reply reply = co_await store.ask({.verb = Verb::Get, .key = "colour"});

#include "net/examples/kv/server.h"

namespace kv {

class StoreClient {
public:
    StoreClient(std::vector<net::Address> servers, std::uint64_t id) : servers_(std::move(servers)), id_(id) {}

    /// Asks until a server has executed it, once. Throws value_too_large. If it is cancelled, the request may be
    /// executed or not; so it may at any time until the next one was answered.
    Future<Reply> ask(Request request);

private:
    std::vector<net::Address> servers_;
    Optional<net::Address> server_; // that has answered last
    std::uint64_t id_, number_ = 0;
};

} // namespace kv
