#pragma once
// Endpoint: a destination of messages: the address of a process, and the token of a stream in that process.
//
//     Endpoint store = Endpoint::wellKnown({server}, WLTOKEN_FIRST_AVAILABLE);
//     RequestStream<GetRequest> get(store);
//
// A well-known endpoint has a number or a name instead of a random token. A name is sent as a hash of 64 bits.
//
// If the process of an Endpoint does not listen, or listens at 0.0.0.0, the Endpoint is sent without an address. The
// receiver then uses the connection over which the Endpoint came: see isByConnection.

#include "flow/base/optional.h"
#include "flow/base/uid.h"
#include "flow/memory/object.h"
#include "net/address.h"
#include "net/rpc/detail/wire_format.h"

#include <string_view>

namespace flow::net {

/// Programs number their well-known endpoints from WLTOKEN_FIRST_AVAILABLE on. This library uses the smaller numbers.
enum WellKnownEndpoints : int { WLTOKEN_FIRST_AVAILABLE = 4 };

namespace rpc {
/// Returns the FNV-1a hash of `name`. Another `basis` gives an independent hash.
constexpr std::uint64_t hashOf(std::string_view name, std::uint64_t basis = 0xCBF29CE484222325) {
    for (char c : name)
        basis = (basis ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return basis;
}
} // namespace rpc

struct NetworkAddressList {
    Address address = {};
    Optional<Address> secondaryAddress = {};

    bool contains(Address const& other) const {
        return address == other || (secondaryAddress.present() && secondaryAddress.get() == other);
    }
    std::string toString() const {
        return secondaryAddress.present() ? address.toString() + ", " + secondaryAddress.get().toString()
                                          : address.toString();
    }
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, address, secondaryAddress);
    }
    friend auto operator<=>(NetworkAddressList const&, NetworkAddressList const&) = default;
};

struct Endpoint {
    constexpr static FileIdentifier file_identifier = 10618805;

    NetworkAddressList addresses;
    UID token; // UID(): none
    /// True if the address is the other end of a connection to this process. Nothing can connect to this address, and
    /// the endpoint ends with the connection.
    bool isByConnection = false;
    std::uint64_t connection = 0; // if isByConnection: the connection's number (its address may be used again)

    static Endpoint wellKnown(NetworkAddressList const& addresses, int number) {
        return {addresses, UID(kWellKnown, static_cast<std::uint64_t>(number)), false, 0};
    }

    static Endpoint named(NetworkAddressList const& addresses, std::string_view name) {
        return {addresses, UID(kNamed, rpc::hashOf(name)), false, 0};
    }

    bool isValid() const { return token.isValid(); }
    Address const& getPrimaryAddress() const { return addresses.address; }
    bool isLocal() const; // node.cpp
    bool isWellKnown() const { return token.first() == kWellKnown; }
    bool isNamed() const { return token.first() == kNamed; }

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, addresses, token);
    }
    friend auto operator<=>(Endpoint const&, Endpoint const&) = default;
};

} // namespace flow::net

template <>
struct std::hash<flow::net::Endpoint> {
    std::size_t operator()(flow::net::Endpoint const& endpoint) const {
        return std::hash<flow::net::Address>()(endpoint.addresses.address) ^ std::hash<flow::UID>()(endpoint.token);
    }
};
