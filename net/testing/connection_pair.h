#pragma once
// connectionPair(): two connections that are connected to each other in memory, for tests.
//
//     auto [client, server] = connectionPair();
//     Future<Void> serving = serve(server);
//     co_await client->write("GET /\r\n"_sr);
//
// The pair needs no Transport, so it works on every loop: in a unit test on virtual time, in a simulation, on a
// RealLoop. It behaves like any Connection, with water marks, half-close and resets, but takes no time: written bytes
// can be read in the next turn of the loop, and flushed() is ready at once. The addresses are 127.0.0.1:1 and
// 127.0.0.1:2. For delays and faults of a network use a SimNetwork. A pair belongs to the loop on which it was made.

#include "net/connection.h"

namespace flow::net {

struct ConnectionPair {
    Reference<Connection> first, second;
};

ConnectionPair connectionPair();

} // namespace flow::net
