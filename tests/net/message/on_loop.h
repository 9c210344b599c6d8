#pragma once
// What tests of message sockets on a real loop have in common.
//
//     runOnLoop([]() -> Future<Void> { ... socket.bind(kAnywhere); co_await until(socket, 2); });
//     runEverywhere([]() -> Future<Void> { ... });      // with both pollers, and on a simulated network

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/message/message_socket.h"
#include "net/poll/network_poller.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/balance.h"
#include "tests/net/transport_suite.h"

namespace flow::net {

inline constexpr char kAnywhere[] = "tcp://127.0.0.1:*";

/// Checks that the test leaves nothing behind.
inline void runOnLoop(Future<Void> (*test)()) {
    test::Balance balance;
    RealLoop loop;
    loop.run(test());
}

inline void runSimulated(Future<Void> (*test)()) {
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "all", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
    world.run(success(delay(30)));
    CHECK(world.leakedCells() == 0);
}

inline void runEverywhere(Future<Void> (*test)()) {
    for (char const* poller : {"epoll", "uring"}) {
        if (poller[0] == 'u' && !hasUring())
            continue;
        INFO("the poller ", poller);
        test::ChosenPoller chosen(poller);
        runOnLoop(test);
    }
    INFO("the simulated network");
    runSimulated(test);
}

/// Waits until the socket has so many peers.
inline Future<Void> until(MessageSocket& socket, std::size_t peers) {
    while (socket.peers() != peers)
        co_await delay(0.001);
}

} // namespace flow::net
