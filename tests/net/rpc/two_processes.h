#pragma once
// A server and a client, each a process of a simulated network, for tests of net/rpc.
//
//     TwoProcesses::run(serve, [] { return test(TwoProcesses::server()); });     // until the client has ended
//
// The test fails when the client does, or when something is left behind.

#include "flow/core/future.h"
#include "net/rpc/node.h"
#include "net/sim/sim_network.h"

#include <functional>

namespace flow::test {

using flow::Future, flow::Void;

struct TwoProcesses {
    /// Where it listens.
    static flow::net::Address server();
    static void run(std::function<Future<Void>()> serve, std::function<Future<Void>()> client,
                    flow::net::RpcOptions const& options = {});
    // By the client's code.
    static void killServer();
    static void restartServer();
    static void partition();
    static void heal();
    /// The client's allocation number n from now on fails; -1: none does.
    static void failAllocation(std::int64_t n);
    static bool hasFailedAllocation();
};

} // namespace flow::test
