#pragma once
// seal() and unseal(): the bytes of a value with a checksum, for places that may damage bytes: a disk, a datagram.
//
//     std::string bytes = seal(peer);                    // a value that BinaryWriter can write
//     Optional<Peer> same = unseal<Peer>(bytes);         // empty if the bytes have been damaged
//
// The checksum detects accidental damage. It does not protect against attackers: they can compute it too.

#include "flow/base/optional.h"
#include "flow/memory/binary.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace flow {

/// Returns the FNV-1a hash.
inline std::uint64_t checksum(std::string_view bytes) {
    std::uint64_t sum = 0xCBF29CE484222325u;
    for (char c : bytes)
        sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return sum;
}

/// Returns the checksum of the value's bytes, followed by these bytes.
template <class T>
std::string seal(T const& value) {
    BinaryWriter body(Unversioned());
    body << value;
    std::string_view bytes(static_cast<char const*>(body.getData()), static_cast<std::size_t>(body.getLength()));
    BinaryWriter head(Unversioned());
    head << checksum(bytes);
    std::string sealed(static_cast<char const*>(head.getData()), static_cast<std::size_t>(head.getLength()));
    return sealed += bytes;
}

inline constexpr std::size_t kSealBytes = 8;

/// Returns the value of sealed bytes; nothing if they have been damaged.
template <class T>
Optional<T> unseal(std::string_view sealed) {
    if (sealed.size() < kSealBytes)
        return {};
    std::uint64_t sum;
    BinaryReader head(StringRef(sealed.substr(0, kSealBytes)), Unversioned());
    head >> sum;
    std::string_view bytes = sealed.substr(kSealBytes);
    if (sum != checksum(bytes))
        return {};
    T value;
    BinaryReader body(StringRef(bytes), Unversioned());
    body >> value;
    body.assertEnd();
    return value;
}

} // namespace flow
