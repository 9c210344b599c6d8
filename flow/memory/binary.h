#pragma once
// BinaryWriter writes values as bytes, one after the other and little-endian. BinaryReader reads them back.
//
//     struct Peer { UID id; std::string name; Optional<int> port; };
//
//     BinaryWriter writer(IncludeVersion());
//     writer << peer << 7;
//     Standalone<StringRef> bytes = writer.toValue();
//
//     BinaryReader reader(bytes, IncludeVersion());
//     reader >> peer >> number;
//     reader.assertEnd();
//
// A number, an enum or a bool is written as its bytes. A string or a container is written as a 32-bit count, then its
// elements. An Optional or an ErrorOr is written as a byte, then its value or its error. A std::variant is written as
// the number of its alternative in a byte, then its value. A plain struct (flow/memory/members.h) is written as its
// members in order. Another class has a member `serialize` for both directions. A plain struct may have `serialize`
// too, to choose its members and their order:
//
//     template <class Ar>
//     void serialize(Ar& ar) { serializer(ar, id, name, port); }
//
// An Arena among the items has no bytes. An Arena that is read keeps all values alive that the same reader has read.
// With IncludeVersion the bytes begin with 8 bytes of version, which the reader checks.
//
// A reader may be given bytes of unknown origin. It throws serialization_failed for bytes that do not fit, for values
// nested more than a thousand deep, and for a length above the number of bytes left, before it allocates memory. After
// an error the reader is useless. StringRefs and VectorRefs refer to reader.arena(), and Standalones share that arena.

#include "flow/base/error.h"
#include "flow/memory/members.h"
#include "flow/memory/standalone.h"
#include "flow/memory/vector_ref.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <variant>

namespace flow {

struct Void; // flow/core/void.h

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

// The next three are functions. If they were types, `BinaryWriter writer(Unversioned());` would declare a function.

/// Puts the version before the values. A reader accepts `version` and older versions.
constexpr detail::VersionIncluded IncludeVersion(ProtocolVersion version = currentProtocolVersion()) {
    return {version};
}
/// Puts no version into the bytes. Both sides must have agreed on `version`.
constexpr detail::VersionAssumed AssumeVersion(ProtocolVersion version) {
    return {version};
}
/// Puts no version into the bytes. The bytes must be the same in all versions.
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
    /// Calls `write`, which writes the members of a struct. Writes no other bytes.
    template <class Write>
    void writeRecord(Write write) {
        write();
    }
    void serializeBytes(void const* bytes, std::size_t count) { bytes_.append(static_cast<char const*>(bytes), count); }
    void serializeBytes(StringRef bytes) { bytes_ += bytes.toStringView(); }

    void const* getData() const { return bytes_.data(); }
    int getLength() const { return static_cast<int>(bytes_.size()); }
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

/// Converts a number to its little-endian form, or back: reverses the bytes on a big-endian machine.
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

namespace detail {

/// The base class of BinaryReader and ObjectReader.
class ByteInput {
public:
    static constexpr bool isSerializing = false;
    static constexpr bool isDeserializing = true;

    /// Reads `count` bytes, and returns their address in the input.
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
    /// Reads `count` bytes, and returns the address of a copy in the arena.
    std::uint8_t const* arenaRead(std::size_t count) {
        return StringRef(arena_, readBytes(count), static_cast<int>(count)).begin();
    }
    template <class Number>
    Number readNumber();
    /// Reads the number of elements that follow. Throws serialization_failed if fewer bytes are left.
    std::size_t readCount() {
        auto count = readNumber<std::uint32_t>();
        if (count > remaining())
            throw serialization_failed();
        return count;
    }

    /// Like readCount(), for elements of type Element. Throws value_too_large above the limit of limitElements().
    template <class Element>
    std::size_t readElements() {
        std::size_t count = readCount();
        elementBytes_ += count * sizeof(Element);
        if (elementBytes_ > mostElementBytes_)
            throw value_too_large();
        return count;
    }
    /// Limits the memory of all elements together, for input of unknown origin: a few bytes may stand for a large
    /// struct with defaults in all members. With a limit, a container reserves room before it reads its elements.
    void limitElements(std::size_t bytes) { mostElementBytes_ = bytes; }
    bool limitsElements() const { return mostElementBytes_ != kNoLimit; }
    /// Returns the number of bytes of all elements so far. Memory that elements own does not count.
    std::size_t elementBytes() const { return elementBytes_; }

    std::size_t remaining() const { return static_cast<std::size_t>(rest_.size()); }
    bool empty() const { return rest_.empty(); }
    /// Throws serialization_failed if bytes are left.
    void assertEnd() const {
        if (!empty())
            throw serialization_failed();
    }
    Arena& arena() { return arena_; }
    ProtocolVersion protocolVersion() const { return version_; }

protected:
    explicit ByteInput(StringRef bytes, ProtocolVersion version = ProtocolVersion())
        : rest_(bytes), version_(version) {}
    /// Reads the version. Throws incompatible_protocol_version if it is newer than `newest`.
    void readVersion(ProtocolVersion newest);

    /// The limit for values within values. Without a limit, a type that contains itself could overflow the stack.
    static constexpr int kMaxDepth = 1000;
    static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
    template <class Reader, class T>
    void readInto(Reader& reader, T& value);

    StringRef rest_;
    int depth_ = 0;
    std::size_t elementBytes_ = 0, mostElementBytes_ = kNoLimit;
    ProtocolVersion version_;
    Arena arena_;
};

} // namespace detail

class BinaryReader : public detail::ByteInput {
public:
    /// Makes a reader of `bytes`, which must outlive the reader. Throws incompatible_protocol_version.
    BinaryReader(StringRef bytes, detail::VersionIncluded which) : ByteInput(bytes) { readVersion(which.version); }
    BinaryReader(StringRef bytes, detail::VersionAssumed which) : ByteInput(bytes, which.version) {}
    BinaryReader(StringRef bytes, detail::NoVersion) : ByteInput(bytes) {}
    template <class Versioning>
    BinaryReader(void const* bytes, int count, Versioning which)
        : BinaryReader(StringRef(static_cast<std::uint8_t const*>(bytes), count), which) {}

    template <class T>
    BinaryReader& operator>>(T& value) {
        readInto(*this, value);
        return *this;
    }
    template <class T>
    BinaryReader& operator&(T& value) {
        return *this >> value;
    }

    template <class Read>
    void readRecord(Read read) {
        read();
    }

    /// Reads one value. Throws serialization_failed if bytes are left behind it.
    template <class T, class Versioning>
    static T fromStringRef(StringRef bytes, Versioning which) {
        BinaryReader reader(bytes, which);
        T value{};
        reader >> value;
        reader.assertEnd();
        return value;
    }
};

/// For a type T that cannot have a member `serialize`: a specialisation has a function `static void write(auto& writer,
/// T const& value)`, and a function `static void read(auto& reader, T& value)`, which reads the bytes of write().
template <class T>
struct SerializedBy {};

/// Writes or reads all items, in this order.
template <class Ar, class... Items>
void serializer(Ar& ar, Items&... items) {
    (static_cast<void>(ar & items), ...);
}

namespace detail {

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// A map, set or vector: a type with begin(), end(), size() and an insert() that takes a position.
template <class T>
concept Container = requires(T t, typename T::value_type v) { t.insert(t.end(), std::move(v)), t.begin(), t.size(); };

/// A container that can read a new element in place. (gcc 12 at -O3 regards a moved element as uninitialised.)
template <class T>
concept GrowsInPlace = requires(T t) {
    { t.emplace_back() } -> std::same_as<typename T::value_type&>;
};

/// The type of a variable into which an element is read. It differs for a map, because its elements have a const key.
template <class T>
struct Readable {
    using Type = T;
};
template <class K, class V>
struct Readable<std::pair<K const, V>> {
    using Type = std::pair<K, V>;
};

template <class T>
T ByteInput::readNumber() {
    T number;
    std::memcpy(&number, readBytes(sizeof number), sizeof number);
    return littleEndian(number);
}

inline void ByteInput::readVersion(ProtocolVersion newest) {
    version_ = ProtocolVersion(readNumber<std::uint64_t>());
    if (!version_.isValid() || version_ > newest)
        throw incompatible_protocol_version();
}

template <class T>
inline constexpr bool kIsTuple = false;
template <class... Items>
inline constexpr bool kIsTuple<std::tuple<Items...>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... Items>
inline constexpr bool kIsVariant<std::variant<Items...>> = true;
template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t kCount>
inline constexpr bool kIsArray<std::array<T, kCount>> = true;
/// An ErrorOr also has the members of an Optional, so code must test for an ErrorOr first.
template <class T>
concept LikeErrorOr = requires(T const& value) { value.present(), value.get(), value.getError(); };

/// A struct that is written as a record of its members. Void and std::monostate have no bytes, so they are excluded.
template <class T>
concept PlainStruct =
    std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_same_v<T, Void> && !std::is_same_v<T, std::monostate> &&
    !kIsArray<T> && !std::is_convertible_v<T const&, StringRef> && !requires(T const& value) { value.begin(); } &&
    !requires(T const& value) { value.present(); } && !requires(T const& value) { value.first(); };

template <class Writer>
void writeCount(Writer& writer, std::size_t count) {
    FLOW_ASSERT(count <= std::numeric_limits<std::uint32_t>::max(), "a serialized container has too many elements");
    writer << static_cast<std::uint32_t>(count);
}

template <class Writer, class T>
void writeValue(Writer& writer, T const& value) {
    if constexpr (requires { SerializedBy<T>::write(writer, value); }) {
        SerializedBy<T>::write(writer, value);
    } else if constexpr (requires { const_cast<T&>(value).serialize(writer); }) {
        // `serialize` is for both directions, so it is not const. Here it does not change `value`.
        writer.writeRecord([&] { const_cast<T&>(value).serialize(writer); });
    } else if constexpr (std::is_same_v<T, Arena>) {
        // An arena has no bytes. readValue() makes an arena depend on the reader's arena.
    } else if constexpr (std::is_same_v<T, Error>) {
        writer << static_cast<std::uint16_t>(value.code());
    } else if constexpr (LikeErrorOr<T>) {
        writer << value.present();
        if (value.present())
            writer << value.get();
        else
            writer << value.getError();
    } else if constexpr (kIsTuple<T>) {
        std::apply([&](auto const&... items) { (static_cast<void>(writer << items), ...); }, value);
    } else if constexpr (kIsVariant<T>) {
        writer << static_cast<std::uint8_t>(value.index());
        std::visit([&](auto const& item) { writer << item; }, value);
    } else if constexpr (kIsArray<T>) {
        for (auto const& element : value)
            writer << element;
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
    } else if constexpr (PlainStruct<T>) {
        writer.writeRecord([&] { forMembers(value, [&](auto&... members) { serializer(writer, members...); }); });
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

template <class Reader, class T>
void readVector(Reader& reader, VectorRef<T>& out) {
    out = VectorRef<T>();
    std::size_t left = reader.template readElements<T>();
    if (reader.limitsElements())
        out.reserve(reader.arena(), static_cast<int>(left));
    for (; left > 0; --left) {
        T element{};
        reader >> element;
        out.push_back(reader.arena(), element);
    }
}

template <class Reader, class T>
void readContainer(Reader& reader, T& value) {
    value.clear();
    std::size_t left = reader.template readElements<typename T::value_type>();
    if constexpr (requires { value.reserve(left); })
        if (reader.limitsElements())
            value.reserve(left);
    for (; left > 0; --left) {
        if constexpr (GrowsInPlace<T>) {
            reader >> value.emplace_back();
        } else {
            typename Readable<typename T::value_type>::Type element{};
            reader >> element;
            value.insert(value.end(), std::move(element));
        }
    }
}

/// Reads alternative number `index`. Throws serialization_failed if the variant has no such alternative.
template <std::size_t kIndex = 0, class Reader, class... Items>
void readVariant(Reader& reader, std::size_t index, std::variant<Items...>& value) {
    if constexpr (kIndex == sizeof...(Items))
        throw serialization_failed();
    else if (index == kIndex)
        reader >> value.template emplace<kIndex>();
    else
        readVariant<kIndex + 1>(reader, index, value);
}

template <class Reader, class T>
void readErrorOr(Reader& reader, T& value) {
    if (*reader.readBytes(1) != 0) {
        typename T::Element element{};
        reader >> element;
        value = T(std::move(element));
    } else {
        Error error;
        reader >> error;
        if (!error.isValid())
            throw serialization_failed();
        value = T::failed(error);
    }
}

template <class Reader, class T>
void readValue(Reader& reader, T& value) {
    if constexpr (requires { SerializedBy<T>::read(reader, value); }) {
        SerializedBy<T>::read(reader, value);
    } else if constexpr (requires { value.serialize(reader); }) {
        reader.readRecord([&] { value.serialize(reader); });
    } else if constexpr (std::is_same_v<T, bool>) {
        value = *reader.readBytes(1) != 0;
    } else if constexpr (Number<T>) {
        value = reader.template readNumber<T>();
    } else if constexpr (std::is_same_v<T, Arena>) {
        value.dependsOn(reader.arena());
    } else if constexpr (std::is_same_v<T, Error>) {
        auto code = reader.template readNumber<std::uint16_t>();
        value = code == Error().code() ? Error() : Error(code);
    } else if constexpr (LikeErrorOr<T>) {
        readErrorOr(reader, value);
    } else if constexpr (kIsTuple<T>) {
        std::apply([&](auto&... items) { (static_cast<void>(reader >> items), ...); }, value);
    } else if constexpr (kIsVariant<T>) {
        readVariant(reader, *reader.readBytes(1), value);
    } else if constexpr (kIsArray<T>) {
        for (auto& element : value)
            reader >> element;
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
        typename T::RefType contents{};
        reader >> contents;
        value = T(contents, reader.arena());
    } else if constexpr (requires { value.first(), value.second(); }) { // a UID
        std::uint64_t first, second;
        reader >> first >> second;
        value = T(first, second);
    } else if constexpr (PlainStruct<T>) {
        reader.readRecord([&] { forMembers(value, [&](auto&... members) { serializer(reader, members...); }); });
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
        readContainer(reader, value);
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

template <class Reader, class T>
void detail::ByteInput::readInto(Reader& reader, T& value) {
    if (++depth_ > kMaxDepth)
        throw serialization_failed();
    readValue(reader, value);
    --depth_;
}

} // namespace flow
