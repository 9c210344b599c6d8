#pragma once
// Serialisation under the old header name.

#include "../../flow.h"
#include "ObjectSerializerTraits.h"

using flow::ArenaObjectReader;
using flow::AssumeVersion;
using flow::BinaryReader;
using flow::BinaryWriter;
using flow::currentProtocolVersion;
using flow::FileIdentifier;
using flow::FileIdentifierFor;
using flow::IncludeVersion;
using flow::ObjectReader;
using flow::ObjectWriter;
using flow::ProtocolVersion;
using flow::serializer;
using flow::Unversioned;

/// Reads bytes that the arena owns.
class ArenaReader : public flow::BinaryReader {
public:
    template <class Versioning>
    ArenaReader(flow::Arena const& arena, flow::StringRef bytes, Versioning which) : BinaryReader(bytes, which) {
        this->arena() = arena;
    }
};

/// A T that is written as a separate object, even if it is a number or a string.
template <class T>
class EnsureTable {
public:
    static constexpr FileIdentifier file_identifier = FileIdentifierFor<T>::value;

    EnsureTable() = default;
    EnsureTable(T const& value) : value_(value) {}
    T& asUnderlyingType() { return value_; }
    T const& asUnderlyingType() const { return value_; }

    template <class Ar>
    void serialize(Ar& ar) {
        if constexpr (requires { value_.serialize(ar); })
            value_.serialize(ar);
        else
            serializer(ar, value_);
    }

private:
    T value_{};
};

/// A base class of serialized templates: gives them an identifier for each T.
template <class T, std::uint32_t kTemplate>
struct ComposedIdentifier {
    static constexpr FileIdentifier file_identifier = kTemplate << 24 | FileIdentifierFor<T>::value;
};

/// Makes a BinaryWriter write a T as its bytes in memory. Use it at namespace scope.
#define BINARY_SERIALIZABLE(T)                                                                                         \
    template <>                                                                                                        \
    struct flow::SerializedBy<T> {                                                                                     \
        static_assert(std::is_trivially_copyable_v<T>);                                                                \
        static void write(auto& writer, T const& value) {                                                              \
            writer.serializeBytes(&value, sizeof(T));                                                                  \
        }                                                                                                              \
        static void read(auto& reader, T& value) {                                                                     \
            reader.serializeBytes(&value, sizeof(T));                                                                  \
        }                                                                                                              \
    };

/// True if an archive writes or reads objects, as Flow's flat buffers do.
template <class Ar>
inline constexpr bool is_fb_function = std::is_base_of_v<ObjectWriter, Ar> || std::is_base_of_v<ObjectReader, Ar>;
