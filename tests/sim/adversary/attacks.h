#pragma once
// The attacks of the simulation "adversary".

#include "tests/sim/adversary/run.h"

#include <span>

namespace adversary {

/// Writes, and reads nothing. Ends when the other side takes no more for a while, or when the connection has ended.
flow::Future<flow::Void> pour(Run& run, flow::Reference<flow::net::Connection> connection, std::string bytes,
                              std::size_t total);
/// Reads until the end, and drops the bytes.
flow::Future<flow::Void> drain(flow::Reference<flow::net::Connection> connection);
/// Bytes of a flood on one connection: of requests that the server answers, and of bytes that it must stop reading, or
/// must end the connection for. If it kept the latter, it would hold more than it may.
constexpr std::size_t kWork = 1 << 20, kFlood = 30 << 20;

struct Attack {
    char const* name;
    flow::Future<flow::Void> (*visit)(Run& run); // an error ends the visit
};
std::span<Attack const> attacksOnStreams();
std::span<Attack const> attacksOnMessages();
std::span<Attack const> attacksOnRpc();

} // namespace adversary
