#pragma once
// CompressedInt under the old header name: an integer in as few bytes as it needs. The bytes sort like the numbers.
//
//     CompressedInt<int64_t> small(5);
//     BinaryWriter writer(Unversioned());
//     writer << small;                                  // one byte up to 63, two up to 8191, 7 bits more per byte
//
// Format, in bits: a 1 for each byte, a 0, and the number. For a negative number n: the number ~n, with all bits
// inverted.

#include "serialize.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

template <class Int>
struct CompressedInt {
    CompressedInt(Int number = 0) : value(number) {}

    Int value;

    template <class Ar>
    void serialize(Ar& ar) {
        if constexpr (Ar::isDeserializing)
            read(ar);
        else
            write(ar);
    }

private:
    using Bits = std::make_unsigned_t<Int>;
    static constexpr int kBits = std::numeric_limits<Bits>::digits;
    static constexpr int kMostBytes = kBits / 7 + 1;

    template <class Ar>
    void write(Ar& ar) const {
        bool isNegative = value < 0;
        Bits bits = static_cast<Bits>(isNegative ? ~value : value);
        int count = (kBits - std::countl_zero(bits)) / 7 + 1;
        std::array<std::uint8_t, kMostBytes> bytes{};
        auto end = static_cast<std::size_t>(count);
        for (std::size_t i = end; i-- > 0; bits = static_cast<Bits>(bits >> 8))
            bytes[i] = static_cast<std::uint8_t>(bits);
        for (int i = 0; i < count; ++i)
            bytes[static_cast<std::size_t>(i / 8)] |= static_cast<std::uint8_t>(0x80 >> i % 8);
        for (std::size_t i = 0; isNegative && i < end; ++i)
            bytes[i] = static_cast<std::uint8_t>(~bytes[i]);
        ar.serializeBytes(bytes.data(), end);
    }
    /// Throws serialization_failed if the number does not fit.
    template <class Ar>
    void read(Ar& ar) {
        std::uint8_t byte;
        ar.serializeBytes(&byte, 1);
        bool isNegative = !(byte & 0x80);
        auto next = [&] {
            ar.serializeBytes(&byte, 1);
            return static_cast<std::uint8_t>(isNegative ? ~byte : byte);
        };
        std::uint8_t part = static_cast<std::uint8_t>(isNegative ? ~byte : byte);
        int ones = std::countl_one(part), taken = 1;
        if (ones == 8) {
            part = next();
            ones += std::countl_one(part);
            ++taken;
        }
        if (ones > kMostBytes)
            throw flow::serialization_failed();
        int header = ones - 8 * (taken - 1); // bits of this byte
        std::uint64_t bits = part & (0x7F >> header);
        for (; taken < ones; ++taken) {
            if (bits >> 56)
                throw flow::serialization_failed();
            bits = bits << 8 | next();
        }
        if (bits > static_cast<std::uint64_t>(std::numeric_limits<Int>::max()))
            throw flow::serialization_failed();
        value = isNegative ? static_cast<Int>(~static_cast<Int>(bits)) : static_cast<Int>(bits);
    }
};
