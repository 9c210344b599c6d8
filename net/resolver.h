#pragma once
// Resolver: finds the addresses of a name.
//
//     std::vector<Address> found = co_await transport().resolver().resolve("example.org", 80);
//
// In the machine's network, c-ares runs on the loop. It reads /etc/hosts, and then asks the name servers of
// /etc/resolv.conf. In a build without c-ares only numeric addresses and localhost resolve, and other names fail with
// unsupported_operation. In a simulation the names are those of SimNetwork::setName().
//
// Numeric addresses, such as "10.0.0.1" and "fe80::1%2", are answered without a lookup. "localhost" and each name that
// ends in ".localhost" get the loopback addresses, without a lookup (RFC 6761). The addresses are in the order in which
// to try them. Answers are cached for their time to live, but at most kLongest seconds; negative answers for at most
// kNegative seconds; at most kMostNames names are cached. Concurrent requests for a name share one lookup.
//
// Errors, with the name in what(): lookup_failed (the name has no address, or is invalid), which is cached; timed_out
// (no name server has answered); operation_failed (no name server could be reached, or all failed).
//
// Cancel-safe: a lookup is cancelled when its last waiter is cancelled. A resolver belongs to its loop.

#include "flow/base/seconds.h"
#include "flow/core/future.h"
#include "net/address.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

struct ResolverOptions {
    /// The name servers, as IP addresses. If the vector is empty, the name servers of the machine are asked.
    std::vector<Address> servers;
    /// The seconds until a query is repeated, to the same or the next server. The time grows after each round.
    Seconds timeout = 2;
    int tries = 3;
};

class Resolver {
public:
    static constexpr std::size_t kMostNames = 1000;
    static constexpr double kLongest = 3600; // seconds
    static constexpr double kNegative = 5;   // seconds

    virtual ~Resolver() = default;

    /// Returns the addresses of the name, at least one; each has the given port.
    Future<std::vector<Address>> resolve(std::string name, std::uint16_t port);
    void clear() { kept_.clear(); }
    std::size_t keptNames() const { return kept_.size(); }

protected:
    /// The result of a lookup. If the name has no address, `addresses` is empty.
    struct Found {
        std::vector<Address> addresses; // their ports are ignored
        double seconds = 0;             // the time for which the result is valid
    };
    /// Looks up `name`, which has 1 to 253 bytes in lower case, and no zero byte.
    virtual Future<Found> lookUp(std::string name) = 0;

private:
    struct Kept {
        std::vector<Address> addresses;
        double until;
    };
    struct UnderWay {
        Future<Found> found;
    };

    Future<Found> lookUpAndKeep(std::string name);
    void keep(std::string const& name, Found const& found);

    std::map<std::string, Kept> kept_;
    std::map<std::string, std::weak_ptr<UnderWay>> underWay_; // running lookups; only their waiters own them
};

/// Returns the address if `name` is the text of an IP address, such as "10.0.0.1" or "::1"; otherwise nothing.
std::optional<Address> numericAddress(std::string const& name, std::uint16_t port);

} // namespace flow::net
