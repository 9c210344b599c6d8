#pragma once
// UID: 128 bits that name something. UID() means no UID.
//
//     UID id = deterministicRandom()->randomUniqueID();
//     UID same = UID::fromString(id.toString());          // 32 hexadecimal digits

#include "flow/base/error.h"
#include "flow/base/format.h"

#include <charconv>
#include <compare>
#include <string>

namespace flow {

class UID {
public:
    constexpr UID() = default;
    constexpr UID(std::uint64_t first, std::uint64_t second) : first_(first), second_(second) {}
    /// Throws operation_failed if the text is not a result of toString().
    static UID fromString(std::string const& text) {
        if (text.size() != 32)
            throw operation_failed();
        return {parse(text.data()), parse(text.data() + 16)};
    }

    constexpr std::uint64_t first() const { return first_; }
    constexpr std::uint64_t second() const { return second_; }
    constexpr std::size_t hash() const { return first_; }
    constexpr bool isValid() const { return first_ != 0 || second_ != 0; }

    std::string toString() const { return shortString() + hex(second_); }
    std::string shortString() const { return hex(first_); }

    friend constexpr bool operator==(UID const&, UID const&) = default;
    friend constexpr auto operator<=>(UID const&, UID const&) = default;

private:
    static std::string hex(std::uint64_t half) { return format("%016llx", static_cast<unsigned long long>(half)); }
    static std::uint64_t parse(char const* digits) {
        std::uint64_t half = 0;
        auto [end, failure] = std::from_chars(digits, digits + 16, half, 16);
        if (failure != std::errc() || end != digits + 16)
            throw operation_failed();
        return half;
    }

    std::uint64_t first_ = 0;
    std::uint64_t second_ = 0;
};

} // namespace flow

template <>
struct std::hash<flow::UID> {
    std::size_t operator()(flow::UID const& id) const { return id.first() ^ id.second() * 0x9E3779B97F4A7C15u; }
};
