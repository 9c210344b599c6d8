#pragma once
// What tests of message sockets on a real loop have in common.
//
//     runOnLoop([]() -> Future<Void> { ... socket.bind(kAnywhere); co_await until(socket, 2); });

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/message/message_socket.h"
#include "tests/flow/support/balance.h"

namespace flow::net {

inline constexpr char kAnywhere[] = "tcp://127.0.0.1:*";

/// Checks that the test leaves nothing behind.
inline void runOnLoop(Future<Void> (*test)()) {
    test::Balance balance;
    RealLoop loop;
    loop.run(test());
}

/// Waits until the socket has so many peers.
inline Future<Void> until(MessageSocket& socket, std::size_t peers) {
    while (socket.peers() != peers)
        co_await delay(0.001);
}

} // namespace flow::net
