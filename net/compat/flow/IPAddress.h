#pragma once
// IPAddress under the old header name: an address of IPv4 or IPv6, without a port.
//
//     IPAddress any;                                       // 0.0.0.0
//     IPAddress same(0x0A000001);
//     Optional<IPAddress> parsed = IPAddress::parse("::1");

#include "../../address.h"
#include "flow/base/optional.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>

struct IPAddress {
    typedef std::array<std::uint8_t, 16> IPAddressStore;

    IPAddress() = default;
    explicit IPAddress(std::uint32_t v4) : address_(v4, 0) {}
    explicit IPAddress(IPAddressStore const& v6) : address_(v6, 0) {}
    explicit IPAddress(flow::net::Address const& address) : address_(address.withPort(0)) {}

    bool isV4() const { return address_.isV4(); }
    bool isV6() const { return !address_.isV4(); }
    bool isValid() const { return !address_.isAny(); }
    std::uint32_t toV4() const { return address_.v4(); }
    IPAddressStore toV6() const { return address_.bytes(); }
    std::string toString() const { return address_.hostToString(); }
    static flow::Optional<IPAddress> parse(std::string const& text) {
        flow::net::ParsedAddress parsed =
            flow::net::Address::parse(text.find(':') == std::string::npos ? text + ":0" : "[" + text + "]:0");
        if (!parsed || parsed->isUnix())
            return {};
        return IPAddress(*parsed);
    }
    flow::net::Address const& address() const { return address_; }

    template <class Ar>
    void serialize(Ar& ar) {
        address_.serialize(ar);
    }
    friend bool operator==(IPAddress const&, IPAddress const&) = default;
    friend std::strong_ordering operator<=>(IPAddress const&, IPAddress const&) = default;

private:
    flow::net::Address address_;
};

template <>
struct std::hash<IPAddress> {
    std::size_t operator()(IPAddress const& ip) const { return std::hash<flow::net::Address>()(ip.address()); }
};
