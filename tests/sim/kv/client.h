#pragma once
// A client that sends random requests to servers, one after the other, and keeps the history of the answers.

#include "flow/sim/exactly_once.h"
#include "flow/sim/history.h"
#include "tests/sim/kv/server.h"

#include <map>
#include <string>

namespace kv {

/// What all clients of a run share: plain data, which stands outside of the simulated world.
struct Workload {
    History history;
    ExactlyOnce requests;
    std::uint64_t clients = 0;                     // so far; each life of a client process is another one
    std::map<std::string, std::uint64_t> answered; // by the name of the client's process
    bool isOver = false;                           // no new requests

    static constexpr int kKeys = 3;
};

/// How clients reach servers: connections, or requests between processes.
enum class Way : std::uint8_t { Connections, Rpc };

/// Two of them, in the process of this name. Ends when the workload is over.
Future<Void> runClients(Way way, Cluster const& cluster, Workload& workload, std::string process);

std::string nameOf(Request const& request);

} // namespace kv
