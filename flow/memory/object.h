#pragma once
// ObjectWriter and ObjectReader: structs as bytes that older and newer programs can read.
//
//     struct Peer {
//         constexpr static FileIdentifier file_identifier = 4711;         // no other struct has this number
//         UID id; std::string name; Optional<int> port;                   // new members go to the end
//     };
//
//     Standalone<StringRef> bytes = ObjectWriter::toValue(peer, IncludeVersion());
//     Peer same = ObjectReader::fromStringRef<Peer>(bytes, IncludeVersion());
//
//     ArenaObjectReader reader(arena, bytes, IncludeVersion());   // StringRefs that are read refer to `arena`
//     reader.deserialize(peer);
//
// The bytes, all numbers little-endian:
//
//     object: [8 bytes of version, with IncludeVersion] [4 bytes: file identifier] record
//     record: [4 bytes: the number of bytes that follow in this record] its members in order, as BinaryWriter
//             writes them. But a member that is a struct, with or without `serialize`, is a record again.
//
// If a record has fewer members than the reader expects, the missing members stay as they are. If a record has more
// members, the reader skips the additional ones. So a struct may get new members at its end, and old and new programs
// can read each other's bytes. A member must never change its type or be removed.
//
// A reader may be given bytes of unknown origin. It throws serialization_failed for bytes that do not fit, for another
// file identifier, for values nested more than a thousand deep, and, before it allocates memory, for a length above the
// number of bytes left. After an error the reader is useless. StringRefs and VectorRefs refer to reader.arena().

#include "flow/memory/binary.h"

namespace flow {

using FileIdentifier = std::uint32_t;

namespace detail {

/// Returns the identifier of a type without a `file_identifier`. All such identifiers begin with 0x4D52.
template <class T>
consteval FileIdentifier plainIdentifier() {
    if constexpr (std::is_floating_point_v<T>)
        return 0x4D520100 + sizeof(T);
    else if constexpr (Number<T>)
        return 0x4D520200 + sizeof(T);
    else if constexpr (std::is_convertible_v<T const&, StringRef>)
        return 0x4D520300;
    else
        return 0x4D520000;
}

/// True if a value of T is a record itself. serialize() puts any other value into a record.
template <class T, class Ar>
concept Record = requires(T& value, Ar& ar) { value.serialize(ar); } ||
                 (PlainStruct<T> && !requires(T& value, Ar& ar) { SerializedBy<T>::write(ar, value); } &&
                  !requires(T& value, Ar& ar) { SerializedBy<T>::read(ar, value); });

} // namespace detail

/// The identifier at the beginning of an object: T's `file_identifier`, or else one for all types of the same kind.
template <class T>
struct FileIdentifierFor {
    static constexpr FileIdentifier value = detail::plainIdentifier<T>();
};
template <class T>
    requires requires { FileIdentifier(T::file_identifier); }
struct FileIdentifierFor<T> {
    static constexpr FileIdentifier value = T::file_identifier;
};

class ObjectWriter {
public:
    static constexpr bool isSerializing = true;
    static constexpr bool isDeserializing = false;

    explicit ObjectWriter(detail::VersionIncluded which) : version_(which.version) { *this << version_.version(); }
    explicit ObjectWriter(detail::VersionAssumed which) : version_(which.version) {}
    explicit ObjectWriter(detail::NoVersion) {}
    /// Makes a writer that appends to `to`, which must outlive the writer.
    ObjectWriter(std::string& to, detail::VersionAssumed which) : bytes_(&to), version_(which.version) {}
    ObjectWriter(ObjectWriter const&) = delete;
    ObjectWriter& operator=(ObjectWriter const&) = delete;

    /// Writes one object, with the file identifier of its type.
    template <class T>
    void serialize(T const& value) {
        if constexpr (detail::Record<T, ObjectWriter>) {
            *this << FileIdentifierFor<T>::value << value;
        } else {
            serialize(FileIdentifierFor<T>::value, value);
        }
    }
    /// Writes one object with `items` as its members.
    template <class... Items>
    void serialize(FileIdentifier identifier, Items const&... items) {
        *this << identifier;
        writeRecord([&] { (static_cast<void>(*this << items), ...); });
    }

    template <class T>
    ObjectWriter& operator<<(T const& value) {
        detail::writeValue(*this, value);
        return *this;
    }
    template <class T>
    ObjectWriter& operator&(T const& value) {
        return *this << value;
    }
    template <class Write>
    void writeRecord(Write write) {
        std::size_t begin = bytes_->size();
        *this << std::uint32_t{0};
        write();
        std::size_t size = bytes_->size() - begin - sizeof(std::uint32_t);
        FLOW_ASSERT(size <= std::numeric_limits<std::uint32_t>::max(), "a serialized struct is too large");
        auto written = littleEndian(static_cast<std::uint32_t>(size));
        std::memcpy(bytes_->data() + begin, &written, sizeof written);
    }
    void serializeBytes(void const* bytes, std::size_t count) {
        bytes_->append(static_cast<char const*>(bytes), count);
    }
    void serializeBytes(StringRef bytes) { *bytes_ += bytes.toStringView(); }

    /// Returns the bytes that have been written, valid until the next write.
    StringRef toStringRef() const { return *bytes_; }
    Standalone<StringRef> toString() const { return toStringRef(); }
    ProtocolVersion protocolVersion() const { return version_; }
    template <class T, class Versioning>
    static Standalone<StringRef> toValue(T const& value, Versioning which) {
        ObjectWriter writer(which);
        writer.serialize(value);
        return writer.toString();
    }

    /// Sets a pointer for types that are written differently for each receiver: see net/rpc.
    void setContext(void* context) { context_ = context; }
    void* context() const { return context_; }

private:
    std::string own_;
    std::string* bytes_ = &own_;
    ProtocolVersion version_;
    void* context_ = nullptr;
};

class ObjectReader : public detail::ByteInput {
public:
    /// Makes a reader of `bytes`, which must outlive the reader. Throws incompatible_protocol_version.
    ObjectReader(StringRef bytes, detail::VersionIncluded which) : ByteInput(bytes) { readVersion(which.version); }
    ObjectReader(StringRef bytes, detail::VersionAssumed which) : ByteInput(bytes, which.version) {}
    ObjectReader(StringRef bytes, detail::NoVersion) : ByteInput(bytes) {}
    /// Makes a reader of one object that the program itself has written. The length of `bytes` is read from `bytes`.
    template <class Versioning>
    ObjectReader(std::uint8_t const* bytes, Versioning which)
        : ObjectReader(trusted(bytes, std::is_same_v<Versioning, detail::VersionIncluded>), which) {}

    /// Reads one object. Bytes behind the object are ignored, unless assertEnd() is called.
    template <class T>
    void deserialize(T& value) {
        if constexpr (detail::Record<T, ObjectReader>) {
            expect(FileIdentifierFor<T>::value);
            *this >> value;
        } else {
            deserialize(FileIdentifierFor<T>::value, value);
        }
    }
    /// Reads one object with `items` as its members.
    template <class... Items>
    void deserialize(FileIdentifier identifier, Items&... items) {
        expect(identifier);
        readRecord([&] { (static_cast<void>(*this & items), ...); });
    }
    template <class T, class Versioning>
    static T fromStringRef(StringRef bytes, Versioning which) {
        ObjectReader reader(bytes, which);
        T value{};
        reader.deserialize(value);
        reader.assertEnd();
        return value;
    }

    /// Reads the next value. Throws serialization_failed if nothing is left.
    template <class T>
    ObjectReader& operator>>(T& value) {
        readInto(*this, value);
        return *this;
    }
    /// Reads the next member of a struct. Leaves `value` as it is if the record has no more members.
    template <class T>
    ObjectReader& operator&(T& value) {
        bool isThere = std::is_same_v<T, Arena> || !empty(); // an arena has no bytes
        return isThere ? *this >> value : *this;
    }
    template <class Read>
    void readRecord(Read read) {
        std::size_t size = readCount();
        StringRef behind = rest_.substr(static_cast<int>(size));
        rest_ = rest_.substr(0, static_cast<int>(size));
        read();
        rest_ = behind;
    }

    void setContext(void* context) { context_ = context; }
    void* context() const { return context_; }

private:
    static StringRef trusted(std::uint8_t const* bytes, bool hasVersion) {
        std::size_t head = (hasVersion ? sizeof(std::uint64_t) : 0) + sizeof(FileIdentifier) + sizeof(std::uint32_t);
        std::uint32_t rest;
        std::memcpy(&rest, bytes + head - sizeof rest, sizeof rest);
        return StringRef(bytes, static_cast<int>(head + littleEndian(rest)));
    }
    void expect(FileIdentifier identifier) {
        if (readNumber<FileIdentifier>() != identifier)
            throw serialization_failed();
    }

    void* context_ = nullptr;
};

/// An ObjectReader that reads into a given arena. The values that are read are valid as long as that arena exists.
class ArenaObjectReader : public ObjectReader {
public:
    template <class Versioning>
    ArenaObjectReader(Arena const& arena, StringRef bytes, Versioning which) : ObjectReader(bytes, which) {
        arena_ = arena;
    }
};

} // namespace flow
