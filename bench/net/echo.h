#pragma once
// The echo benchmark: one server in the benchmark's thread, a load in another. What a server is: it listens at a free
// port of 127.0.0.1, says where, serves so many connections, and returns when all of them are closed.
//
//     bool const added = addEcho("raw-epoll", serveRaw);

#include "flow/core/future.h"
#include "net/transport.h"

#include <functional>
#include <string>

namespace bench {

using Listening = std::function<void(std::uint16_t port)>;
using ServeEcho = std::function<void(int connections, Listening const& listening)>;

/// Calls of io_uring that the server which ran last has made: see bench/net/system_calls.h.
inline std::uint64_t uringCalls = 0;

/// Whether both ends of so many connections may be in this process from now on.
bool allowDescriptors(int connections);

/// The server's side of a connection: sends back what it reads, until the other side ends.
flow::Future<flow::Void> echo(flow::Reference<flow::net::Connection> connection);

/// A row for each number of connections, and one in which the load is an open loop.
enum class Calls : bool { Counted, ByKernel }; // of the system: here, or by the kernel if the server is another program
bool addEcho(std::string const& server, ServeEcho serve, Calls calls = Calls::Counted);
/// One of ours, on epoll, and on io_uring where there is that: `style` and the poller are its name.
using ServeOurs = std::function<flow::Future<flow::Void>(flow::Reference<flow::net::Listener>, int connections)>;
bool addOurEcho(std::string const& style, ServeOurs serve);

} // namespace bench
