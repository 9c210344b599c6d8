#pragma once
// A server of net/examples/kv without requests between processes: datagrams go between servers, and connections to
// clients. There a network can do more.
//
//     Cluster cluster{3, {a, b, c}};
//     co_await runDatagramServer(id, cluster, witness);  // until something fails, then start it anew

#include "net/examples/kv/replica.h"

namespace kv {

struct Cluster {
    int servers = 0;                     // their ids are from 0
    std::vector<net::Address> addresses; // where to look for them: any of them may be at any of these

    static constexpr std::uint16_t kServerPort = 4000; // datagrams
    static constexpr std::uint16_t kClientPort = 5000; // connections
    static constexpr std::uint16_t kRpcPort = 4500;

    std::vector<net::Address> at(std::uint16_t port) const {
        std::vector<net::Address> places;
        for (net::Address const& address : addresses)
            places.push_back(address.withPort(port));
        return places;
    }
};

/// Ends only by an error.
Future<Void> runDatagramServer(int id, Cluster const& cluster, Witness& witness);

} // namespace kv
