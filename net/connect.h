#pragma once
// connect(), connectAny(): connect to a name, or to the first of several addresses that answers (RFC 8305, "happy
// eyeballs").
//
//     Reference<Connection> peer = co_await connect("example.org", 80);
//     Reference<Connection> same = co_await connectAny(addresses);
//
// The addresses are tried in order, with IPv6 and IPv4 alternating; the next attempt starts when the last has failed,
// or after kAttemptDelay seconds. The first success is the result, and cancels the other attempts.
//
// Errors: those of Resolver::resolve(); if all attempts have failed, the error of the first; connection_timed_out when
// options.timeout seconds are over, the lookup included. Cancel-safe: all attempts are cancelled.

#include "net/transport.h"

namespace flow::net {

constexpr double kAttemptDelay = 0.25;

Future<Reference<Connection>> connect(std::string name, std::uint16_t port, ConnectOptions options = {});

/// There is at least one address. Addresses of another family than options.local are skipped.
Future<Reference<Connection>> connectAny(std::vector<Address> addresses, ConnectOptions options = {});

/// The addresses in another order: the first, then one of the other family, and so on; within a family in their order.
std::vector<Address> interleaved(std::vector<Address> const& addresses);

struct NameAndPort {
    std::string name; // without brackets
    std::uint16_t port;
};
/// Parses "example.org:80", "10.0.0.1:80" or "[::1]:80"; nothing if the text is none of these.
std::optional<NameAndPort> parseNameAndPort(std::string_view text);

} // namespace flow::net
