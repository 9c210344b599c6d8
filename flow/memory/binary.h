#pragma once
// BinaryWriter and BinaryReader: values as bytes, little-endian, one after the other.
//
//     struct Peer {
//         UID id; std::string name; Optional<int> port;
//         template <class Ar>
//         void serialize(Ar& ar) { serializer(ar, id, name, port); }      // for both directions
//     };
//
//     BinaryWriter writer(IncludeVersion());
//     writer << peer << 7;
//     Standalone<StringRef> bytes = writer.toValue();
//
//     BinaryReader reader(bytes, IncludeVersion());
//     reader >> peer >> number;
//     reader.assertEnd();
//
// Numbers, enums and bool have their own size; strings and containers their count in 32 bits, then what is in them; an
// Optional a byte, then its value. With IncludeVersion the bytes begin with 8 bytes of version, which the reader
// checks; AssumeVersion and Unversioned write none.
//
// A reader may be given bytes from anywhere: what does not fit throws serialization_failed, as do values nested more
// than a thousand deep, and nothing is allocated for a length before its bytes have been seen. After an error the
// reader is of no use. StringRefs and VectorRefs that are read live in reader.arena(), and Standalones share it.

#include "flow/base/error.h"
#include "flow/memory/standalone.h"
#include "flow/memory/vector_ref.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>

namespace flow {

class ProtocolVersion {
public:
    constexpr explicit ProtocolVersion(std::uint64_t version = 0) : version_(version) {}
    constexpr std::uint64_t version() const { return version_; }
    constexpr bool isValid() const { return version_ != 0; }
    friend constexpr auto operator<=>(ProtocolVersion const&, ProtocolVersion const&) = default;

private:
    std::uint64_t version_;
};
constexpr ProtocolVersion currentProtocolVersion() {
    return ProtocolVersion(0x4D5200000001);
}

namespace detail {
struct VersionIncluded {
    ProtocolVersion version;
};
struct VersionAssumed {
    ProtocolVersion version;
};
struct NoVersion {};
} // namespace detail

// Functions, so that `BinaryWriter writer(Unversioned());` is no declaration of a function.

/// The version stands before the values. A reader takes this one and older ones.
constexpr detail::VersionIncluded IncludeVersion(ProtocolVersion version = currentProtocolVersion()) {
    return {version};
}
/// Both sides know the version.
constexpr detail::VersionAssumed AssumeVersion(ProtocolVersion version) {
    return {version};
}
/// The bytes are the same in all versions.
constexpr detail::NoVersion Unversioned() {
    return {};
}

class BinaryWriter {
public:
    static constexpr bool isSerializing = true;
    static constexpr bool isDeserializing = false;

    explicit BinaryWriter(detail::VersionIncluded which) : version_(which.version) { *this << version_.version(); }
    explicit BinaryWriter(detail::VersionAssumed which) : version_(which.version) {}
    explicit BinaryWriter(detail::NoVersion) {}

    template <class T>
    BinaryWriter& operator<<(T const& value);
    template <class T>
    BinaryWriter& operator&(T const& value) {
        return *this << value;
    }
    void serializeBytes(void const* bytes, std::size_t count) { bytes_.append(static_cast<char const*>(bytes), count); }
    void serializeBytes(StringRef bytes) { bytes_ += bytes.toStringView(); }

    void const* getData() const { return bytes_.data(); }
    int getLength() const { return static_cast<int>(bytes_.size()); }
    /// A copy of what has been written.
    Standalone<StringRef> toValue() const { return StringRef(bytes_); }
    ProtocolVersion protocolVersion() const { return version_; }

    template <class T, class Versioning>
    static Standalone<StringRef> toValue(T const& value, Versioning which) {
        BinaryWriter writer(which);
        writer << value;
        return writer.toValue();
    }

private:
    ProtocolVersion version_;
    std::string bytes_;
};

class BinaryReader {
public:
    static constexpr bool isSerializing = false;
    static constexpr bool isDeserializing = true;

    /// The bytes must live as long as the reader. Throws incompatible_protocol_version.
    BinaryReader(StringRef bytes, detail::VersionIncluded which) : rest_(bytes) {
        std::uint64_t version;
        *this >> version;
        version_ = ProtocolVersion(version);
        if (!version_.isValid() || version_ > which.version)
            throw incompatible_protocol_version();
    }
    BinaryReader(StringRef bytes, detail::VersionAssumed which) : rest_(bytes), version_(which.version) {}
    BinaryReader(StringRef bytes, detail::NoVersion) : rest_(bytes) {}
    template <class Versioning>
    BinaryReader(void const* bytes, int count, Versioning which)
        : BinaryReader(StringRef(static_cast<std::uint8_t const*>(bytes), count), which) {}

    template <class T>
    BinaryReader& operator>>(T& value);
    template <class T>
    BinaryReader& operator&(T& value) {
        return *this >> value;
    }
    /// The next bytes, in place.
    std::uint8_t const* readBytes(std::size_t count) {
        if (count > remaining())
            throw serialization_failed();
        std::uint8_t const* bytes = rest_.begin();
        rest_ = rest_.substr(static_cast<int>(count));
        return bytes;
    }
    void serializeBytes(void* out, std::size_t count) {
        StringRef(readBytes(count), static_cast<int>(count)).copyTo(static_cast<std::uint8_t*>(out));
    }
    /// The next bytes, copied into the arena.
    std::uint8_t const* arenaRead(std::size_t count) {
        return StringRef(arena_, readBytes(count), static_cast<int>(count)).begin();
    }
    /// The number of elements that follow, which take a byte each at least.
    std::size_t readCount() {
        std::uint32_t count;
        *this >> count;
        if (count > remaining())
            throw serialization_failed();
        return count;
    }

    std::size_t remaining() const { return static_cast<std::size_t>(rest_.size()); }
    bool empty() const { return rest_.empty(); }
    /// Throws serialization_failed if something is left.
    void assertEnd() const {
        if (!empty())
            throw serialization_failed();
    }
    Arena& arena() { return arena_; }
    ProtocolVersion protocolVersion() const { return version_; }

    /// One value, and nothing behind it.
    template <class T, class Versioning>
    static T fromStringRef(StringRef bytes, Versioning which) {
        BinaryReader reader(bytes, which);
        T value;
        reader >> value;
        reader.assertEnd();
        return value;
    }

private:
    /// Values within values: a type that contains itself could be made to overflow the stack.
    static constexpr int kMaxDepth = 1000;

    StringRef rest_;
    int depth_ = 0;
    ProtocolVersion version_;
    Arena arena_;
};

/// All of them, in this order.
template <class Ar, class... Items>
void serializer(Ar& ar, Items&... items) {
    (static_cast<void>(ar & items), ...);
}

namespace detail {

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Maps, sets and vectors: what has begin(), end(), size() and insert() at a place.
template <class T>
concept Container = requires(T t, typename T::value_type v) { t.insert(t.end(), std::move(v)), t.begin(), t.size(); };

/// Its elements can be read where they stand. (One that is moved there, gcc 12 at -O3 takes for uninitialised.)
template <class T>
concept GrowsInPlace = requires(T t) {
    { t.emplace_back() } -> std::same_as<typename T::value_type&>;
};

/// The element of a map has a const key, which cannot be read into.
template <class T>
struct Readable {
    using Type = T;
};
template <class K, class V>
struct Readable<std::pair<K const, V>> {
    using Type = std::pair<K, V>;
};

template <class T>
T littleEndian(T value) {
    if constexpr (std::endian::native == std::endian::big) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        std::reverse(bytes, bytes + sizeof(T));
        std::memcpy(&value, bytes, sizeof(T));
    }
    return value;
}

inline void writeCount(BinaryWriter& writer, std::size_t count) {
    FLOW_ASSERT(count <= std::numeric_limits<std::uint32_t>::max(), "a serialized container has too many elements");
    writer << static_cast<std::uint32_t>(count);
}

template <class T>
void writeValue(BinaryWriter& writer, T const& value) {
    if constexpr (requires { const_cast<T&>(value).serialize(writer); }) {
        const_cast<T&>(value).serialize(writer); // one function for both directions, which does not write here
    } else if constexpr (std::is_same_v<T, bool>) {
        writer << static_cast<std::uint8_t>(value);
    } else if constexpr (Number<T>) {
        T bytes = littleEndian(value);
        writer.serializeBytes(&bytes, sizeof bytes);
    } else if constexpr (std::is_convertible_v<T const&, StringRef>) {
        StringRef text = value;
        writeCount(writer, static_cast<std::size_t>(text.size()));
        writer.serializeBytes(text);
    } else if constexpr (requires { value.first(), value.second(); }) { // a UID
        writer << value.first() << value.second();
    } else if constexpr (requires { value.first, value.second; }) {
        writer << value.first << value.second;
    } else if constexpr (requires { value.present(), value.get(); }) {
        writer << value.present();
        if (value.present())
            writer << value.get();
    } else if constexpr (requires { value.begin() != value.end(), value.size(); }) {
        writeCount(writer, static_cast<std::size_t>(value.size()));
        for (auto const& element : value)
            writer << static_cast<typename T::value_type const&>(element);
    } else {
        static_assert(std::is_empty_v<T>, "this type needs a member `template <class Ar> void serialize(Ar& ar)`");
    }
}

template <class T>
void readVector(BinaryReader& reader, VectorRef<T>& out) {
    out = VectorRef<T>();
    for (std::size_t left = reader.readCount(); left > 0; --left) {
        T element;
        reader >> element;
        out.push_back(reader.arena(), element);
    }
}

template <class T>
void readValue(BinaryReader& reader, T& value) {
    if constexpr (requires { value.serialize(reader); }) {
        value.serialize(reader);
    } else if constexpr (std::is_same_v<T, bool>) {
        value = *reader.readBytes(1) != 0;
    } else if constexpr (Number<T>) {
        std::memcpy(&value, reader.readBytes(sizeof value), sizeof value);
        value = littleEndian(value);
    } else if constexpr (std::is_same_v<T, StringRef>) {
        std::size_t count = reader.readCount();
        value = StringRef(reader.arenaRead(count), static_cast<int>(count));
    } else if constexpr (std::is_same_v<T, std::string>) {
        std::size_t count = reader.readCount();
        value.assign(reinterpret_cast<char const*>(reader.readBytes(count)), count);
    } else if constexpr (requires {
                             typename T::RefType;
                             value.arena();
                         }) { // a Standalone
        typename T::RefType contents;
        reader >> contents;
        value = T(contents, reader.arena());
    } else if constexpr (requires { value.first(), value.second(); }) { // a UID
        std::uint64_t first, second;
        reader >> first >> second;
        value = T(first, second);
    } else if constexpr (requires { value.first, value.second; }) {
        reader >> value.first >> value.second;
    } else if constexpr (requires {
                             typename T::ValueType;
                             value.present();
                         }) { // an Optional
        bool present;
        reader >> present;
        value.reset();
        if (present)
            reader >> value.emplace();
    } else if constexpr (requires { readVector(reader, value); }) {
        readVector(reader, value);
    } else if constexpr (Container<T>) {
        value.clear();
        for (std::size_t left = reader.readCount(); left > 0; --left) {
            if constexpr (GrowsInPlace<T>) {
                reader >> value.emplace_back();
            } else {
                typename Readable<typename T::value_type>::Type element;
                reader >> element;
                value.insert(value.end(), std::move(element));
            }
        }
    } else {
        static_assert(std::is_empty_v<T>, "this type needs a member `template <class Ar> void serialize(Ar& ar)`");
    }
}

} // namespace detail

template <class T>
BinaryWriter& BinaryWriter::operator<<(T const& value) {
    detail::writeValue(*this, value);
    return *this;
}

template <class T>
BinaryReader& BinaryReader::operator>>(T& value) {
    if (++depth_ > kMaxDepth)
        throw serialization_failed();
    detail::readValue(*this, value);
    --depth_;
    return *this;
}

} // namespace flow
