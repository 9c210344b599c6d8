#pragma once
// NetworkAddress and NetworkAddressList under the old header name: an IP address, a port and flags, as members.
//
//     NetworkAddress server = NetworkAddress::parse("10.0.0.1:4500");      // throws connection_string_invalid
//     server.port, server.ip.toString(), server.isTLS()                    // 4500, "10.0.0.1", false
//
// A NetworkAddress converts to flow::net::Address and back. A text may have ":tls" after the port, and "(fromHostname)"
// at the end. These two flags have no effect on connections.

#include "../../../flow/compat/flow/network.h"
#include "../../../flow/compat/formatters.h"
#include "../../rpc/endpoint.h"
#include "../../transport.h"
#include "IPAddress.h"
#include "flow/base/error.h"

#include <vector>

struct NetworkAddress {
    enum { FLAG_PRIVATE = 1, FLAG_TLS = 2 };

    IPAddress ip;
    std::uint16_t port = 0;
    std::uint16_t flags = FLAG_PRIVATE;
    bool fromHostname = false;

    NetworkAddress() = default;
    NetworkAddress(IPAddress const& theIp, std::uint16_t thePort, bool isPublic, bool isTLS)
        : ip(theIp), port(thePort),
          flags(static_cast<std::uint16_t>((isPublic ? 0 : FLAG_PRIVATE) | (isTLS ? FLAG_TLS : 0))) {}
    NetworkAddress(std::uint32_t theIp, std::uint16_t thePort, bool isPublic, bool isTLS)
        : NetworkAddress(IPAddress(theIp), thePort, isPublic, isTLS) {}
    NetworkAddress(std::uint32_t theIp, std::uint16_t thePort)
        : NetworkAddress(IPAddress(theIp), thePort, false, false) {}
    NetworkAddress(IPAddress const& theIp, std::uint16_t thePort) : NetworkAddress(theIp, thePort, false, false) {}
    NetworkAddress(flow::net::Address const& address)
        : NetworkAddress(IPAddress(address), address.port(), true, false) {}
    operator flow::net::Address() const { return ip.address().withPort(port); }

    bool isValid() const { return ip.isValid() || port != 0; }
    bool isPublic() const { return !(flags & FLAG_PRIVATE); }
    bool isTLS() const { return (flags & FLAG_TLS) != 0; }
    bool isV6() const { return ip.isV6(); }

    static NetworkAddress parse(std::string text) {
        auto takeEnd = [&text](std::string_view end) {
            bool isThere = text.ends_with(end);
            if (isThere)
                text.resize(text.size() - end.size());
            return isThere;
        };
        bool isFromHostname = takeEnd("(fromHostname)"), isTLS = takeEnd(":tls");
        flow::net::Address address = flow::net::Address::parse(text).get();
        if (address.isUnix())
            throw flow::connection_string_invalid();
        NetworkAddress parsed(IPAddress(address), address.port(), true, isTLS);
        parsed.fromHostname = isFromHostname;
        return parsed;
    }
    static flow::Optional<NetworkAddress> parseOptional(std::string const& text) {
        try {
            return parse(text);
        } catch (flow::Error&) {
            return {};
        }
    }
    /// Parses addresses that are separated by commas.
    static std::vector<NetworkAddress> parseList(std::string const& text) {
        std::vector<NetworkAddress> all;
        for (std::size_t begin = 0; begin <= text.size();) {
            std::size_t end = std::min(text.find(',', begin), text.size());
            all.push_back(parse(text.substr(begin, end - begin)));
            begin = end + 1;
        }
        return all;
    }
    std::string toString() const {
        return static_cast<flow::net::Address>(*this).toString() + (isTLS() ? ":tls" : "") +
               (fromHostname ? "(fromHostname)" : "");
    }

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, ip, port, flags, fromHostname);
    }
    friend bool operator==(NetworkAddress const& a, NetworkAddress const& b) { return (a <=> b) == 0; }
    /// fromHostname is not compared.
    friend std::strong_ordering operator<=>(NetworkAddress const& a, NetworkAddress const& b) {
        if (auto flagOrder = a.flags <=> b.flags; flagOrder != 0)
            return flagOrder;
        if (auto ipOrder = a.ip <=> b.ip; ipOrder != 0)
            return ipOrder;
        return a.port <=> b.port;
    }
};

template <>
struct std::hash<NetworkAddress> {
    std::size_t operator()(NetworkAddress const& address) const {
        return std::hash<flow::net::Address>()(address) ^ address.flags;
    }
};

inline std::string formatIpPort(IPAddress const& ip, std::uint16_t port) {
    return NetworkAddress(ip, port, true, false).toString();
}

using flow::net::NetworkAddressList;

#if __has_include(<fmt/format.h>)
template <>
struct fmt::formatter<IPAddress> : FormatUsingTraceable<IPAddress> {};
template <>
struct fmt::formatter<NetworkAddress> : FormatUsingTraceable<NetworkAddress> {};
#endif

namespace flow::compat {

/// Implements g_network->isAddressOnThisHost(): true if a socket can be bound to this IP address.
inline bool canBind(::NetworkAddress const& address) {
    try {
        (void)flow::net::transport().bind(::NetworkAddress(address.ip, 0));
        return true;
    } catch (flow::Error&) {
        return false;
    }
}
inline bool const localAddressesAreKnown = (isLocalAddress = canBind, true);

} // namespace flow::compat
