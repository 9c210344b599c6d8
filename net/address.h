#pragma once
// Address: where something listens in a network: an IP address and a port.
//
//     Address server = Address::parse("10.0.0.1:4500");      // or "[2001:db8::1]:4500"
//     Address same(0x0A000001, 4500);
//     server.toString()                                      // "10.0.0.1:4500"
//
// A value of 20 bytes, ordered and hashable: IPv4 before IPv6, then by the bytes of the address, then by the port.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace flow {
namespace net {

class Address {
public:
    using V6 = std::array<std::uint8_t, 16>;

    /// 0.0.0.0:0, which is nowhere: as an address to listen at, any of this machine's and a port that is free.
    constexpr Address() = default;
    /// The most significant byte of `ip` is the first one: 10.0.0.1 is 0x0A000001.
    constexpr Address(std::uint32_t ip, std::uint16_t port)
        : bytes_{std::uint8_t(ip >> 24), std::uint8_t(ip >> 16), std::uint8_t(ip >> 8), std::uint8_t(ip)}, port_(port) {
    }
    constexpr Address(V6 const& ip, std::uint16_t port) : bytes_(ip), port_(port), isV6_(true) {}

    /// Throws connection_string_invalid. Names are not looked up.
    static Address parse(std::string_view text);
    std::string toString() const;

    constexpr bool isV6() const { return isV6_; }
    /// Of an IPv4 address.
    constexpr std::uint32_t v4() const {
        return std::uint32_t{bytes_[0]} << 24 | std::uint32_t{bytes_[1]} << 16 | std::uint32_t{bytes_[2]} << 8 |
               bytes_[3];
    }
    /// In the order of the network; those of an IPv4 address are the first four, and the others are 0.
    constexpr V6 const& bytes() const { return bytes_; }
    constexpr std::uint16_t port() const { return port_; }
    constexpr Address withPort(std::uint16_t port) const {
        Address other = *this;
        other.port_ = port;
        return other;
    }
    /// Whether the address, without the port, is 0.
    constexpr bool isAny() const { return bytes_ == V6(); }
    /// Whether it is this machine, as it calls itself: 127.x.y.z or ::1.
    constexpr bool isLoopback() const {
        return isV6_ ? bytes_ == V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} : bytes_[0] == 127;
    }

    friend constexpr bool operator==(Address const&, Address const&) = default;
    friend constexpr std::strong_ordering operator<=>(Address const& a, Address const& b) {
        if (auto order = a.isV6_ <=> b.isV6_; order != 0)
            return order;
        if (auto order = a.bytes_ <=> b.bytes_; order != 0)
            return order;
        return a.port_ <=> b.port_;
    }

private:
    V6 bytes_{};
    std::uint16_t port_ = 0;
    bool isV6_ = false;
};

} // namespace net

/// The name that programs know.
using NetworkAddress = net::Address;

} // namespace flow

template <>
struct std::hash<flow::net::Address> {
    std::size_t operator()(flow::net::Address const& address) const {
        auto const* bytes = reinterpret_cast<char const*>(address.bytes().data());
        std::size_t ip = std::hash<std::string_view>()({bytes, address.bytes().size()});
        return ip ^ (std::size_t{address.port()} << 1 | address.isV6()) * 0x9E3779B97F4A7C15u;
    }
};
