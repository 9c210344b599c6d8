#pragma once
// Endpoint: where messages go: a process, by its address, and one of what it serves, by a token.
//
//     Endpoint store = Endpoint::wellKnown({server}, WLTOKEN_FIRST_AVAILABLE);
//     RequestStream<GetRequest> get(store);
//
// A plain value. One whose process listens nowhere, or at an address that says nothing (0.0.0.0), is written without an
// address; whoever reads it from a connection reaches it through that connection: see isByConnection.

#include "flow/base/optional.h"
#include "flow/base/uid.h"
#include "flow/memory/object.h"
#include "net/address.h"
#include "net/rpc/frame.h"

namespace flow::net {

/// The numbers below WLTOKEN_FIRST_AVAILABLE are this library's own.
enum WellKnownEndpoints : int { WLTOKEN_FIRST_AVAILABLE = 4 };

/// Where a process can be reached.
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
    UID token; // UID(): it is nowhere
    /// The address is that of the other end of a connection to this process, which nobody else can connect to. When the
    /// connection is gone, so is the endpoint.
    bool isByConnection = false;

    static Endpoint wellKnown(NetworkAddressList const& addresses, int number) {
        return {addresses, UID(kWellKnown, static_cast<std::uint64_t>(number)), false};
    }

    bool isValid() const { return token.isValid(); }
    Address const& getPrimaryAddress() const { return addresses.address; }
    bool isWellKnown() const { return token.first() == kWellKnown; }

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
