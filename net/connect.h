#pragma once
// connect(), connectAny(): connect to a name, or to the first address that answers (RFC 8305, "happy eyeballs").
//
//     Reference<Connection> peer = co_await connect("example.org", 80);
//     Reference<Connection> same = co_await connectAny(addresses);
//
// The addresses are tried in order, with IPv6 and IPv4 alternating. The next attempt starts when an attempt has failed,
// or kAttemptDelay seconds after the previous start. The first success is the result, and cancels the other attempts.
//
// Errors: the errors of Resolver::resolve(). If all attempts fail, the error of the attempt that fails first.
// connection_timed_out after options.timeout seconds, lookup included. Cancel-safe: all attempts are cancelled.

#include "net/transport.h"

namespace flow::net {

constexpr double kAttemptDelay = 0.25;

Future<Reference<Connection>> connect(std::string name, std::uint16_t port, ConnectOptions options = {});

/// Connects to the first of the addresses that answers. Addresses of another family than options.local are skipped. If
/// no address is left, the error is invalid_local_address.
Future<Reference<Connection>> connectAny(std::vector<Address> addresses, ConnectOptions options = {});

/// Returns the addresses in another order: the families alternate, and each family keeps its order.
std::vector<Address> interleaved(std::vector<Address> const& addresses);

struct NameAndPort {
    std::string name; // without brackets
    std::uint16_t port;
};
/// Parses "example.org:80", "10.0.0.1:80" or "[::1]:80". Returns nothing if the text is none of these.
std::optional<NameAndPort> parseNameAndPort(std::string_view text);

} // namespace flow::net
