#pragma once
// Traits for types that are serialized without a member function, under the old header name.
//
//     template <>
//     struct scalar_traits<Color> : std::true_type {
//         constexpr static size_t size = 3;
//         template <class Context>
//         static void save(uint8_t* out, Color const& color, Context&) { ... }
//         template <class Context>
//         static void load(uint8_t const* in, Color& color, Context&) { ... }
//     };
//     writer << color;                                     // also ObjectWriter, and members of other structs
//
// A specialisation must come before the first use of its type. In the bytes, a value of dynamic size and a vector begin
// with their length, a union begins with a byte for the alternative (0: none), and a struct is its members.

#include "../../base/non_copyable.h"
#include "../../memory/object.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

template <class... Types>
struct pack {};

namespace flow::compat {

template <std::size_t I, class Pack>
struct TypeAt;
template <std::size_t I, class... Types>
struct TypeAt<I, pack<Types...>> : std::tuple_element<I, std::tuple<Types...>> {};
template <class Pack>
inline constexpr std::size_t kPackSize = 0;
template <class... Types>
inline constexpr std::size_t kPackSize<pack<Types...>> = sizeof...(Types);

} // namespace flow::compat

template <int i, class Pack>
using index_t = typename flow::compat::TypeAt<static_cast<std::size_t>(i), Pack>::type;

/// A specialisation has size, save(bytes, value, context) and load(bytes, value, context).
template <class T>
struct scalar_traits : std::false_type {};
/// Has size(value, context), save(bytes, value, context) and load(bytes, size, value, context).
template <class T>
struct dynamic_size_traits : std::false_type {};
/// Has value_type, num_entries(vector, context), begin(vector, context), reserve(vector, count, context), and
/// insert(vector, context), which returns an output iterator.
template <class T>
struct vector_like_traits : std::false_type {};
/// Has alternatives, empty(value, context), index(value, context), get<i>(value, context), assign<i>(value, item,
/// context).
template <class T>
struct union_like_traits : std::false_type {};
/// Has types, get<i>(value, context) and assign<i>(value, item, context).
template <class T>
struct struct_like_traits : std::false_type {};
/// Has serialize(archive, value), like the member function.
template <class T>
struct serializable_traits : std::false_type {};

namespace flow::compat {

/// The parameter of trait functions: allocates memory for bytes to which a value refers.
class SerializerContext : flow::NonCopyable {
public:
    /// Makes a context for a writer, or for a reader and its arena.
    explicit SerializerContext(auto& archive) : version_(archive.protocolVersion()) {
        if constexpr (requires { archive.arena(); })
            arena_ = &archive.arena();
    }
    ProtocolVersion protocolVersion() const { return version_; }
    Arena& arena() { return *arena_; }
    void addArena(Arena& arena) { arena.dependsOn(*arena_); }
    /// Returns memory that exists as long as the value that was read.
    std::uint8_t* allocate(std::size_t bytes) { return mutateString(makeString(static_cast<int>(bytes), *arena_)); }
    std::uint8_t const* tryReadZeroCopy(std::uint8_t const* bytes, unsigned count) {
        return StringRef(*arena_, StringRef(bytes, static_cast<int>(count))).begin();
    }

private:
    ProtocolVersion version_;
    Arena own_;
    Arena* arena_ = &own_;
};

/// Calls `call` with the constants 0, 1, ... below the number of types of the pack.
template <class Pack, class F>
void forEachOf(F call) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (call(std::integral_constant<int, static_cast<int>(I)>()), ...);
    }(std::make_index_sequence<kPackSize<Pack>>());
}

} // namespace flow::compat

namespace flow {

template <class T>
    requires(scalar_traits<T>::value)
struct SerializedBy<T> {
    using Traits = scalar_traits<T>;
    static void write(auto& writer, T const& value) {
        std::uint8_t bytes[Traits::size];
        compat::SerializerContext context(writer);
        Traits::save(bytes, value, context);
        writer.serializeBytes(bytes, Traits::size);
    }
    static void read(auto& reader, T& value) {
        compat::SerializerContext context(reader);
        Traits::load(reader.readBytes(Traits::size), value, context);
    }
};

template <class T>
    requires(dynamic_size_traits<T>::value)
struct SerializedBy<T> {
    using Traits = dynamic_size_traits<T>;
    static void write(auto& writer, T const& value) {
        compat::SerializerContext context(writer);
        std::vector<std::uint8_t> bytes(Traits::size(value, context));
        Traits::save(bytes.data(), value, context);
        writer << static_cast<std::uint32_t>(bytes.size());
        writer.serializeBytes(bytes.data(), bytes.size());
    }
    static void read(auto& reader, T& value) {
        compat::SerializerContext context(reader);
        std::size_t count = reader.readCount();
        Traits::load(reader.readBytes(count), count, value, context);
    }
};

template <class T>
    requires(vector_like_traits<T>::value)
struct SerializedBy<T> {
    using Traits = vector_like_traits<T>;
    static void write(auto& writer, T const& value) {
        compat::SerializerContext context(writer);
        auto count = static_cast<std::uint32_t>(Traits::num_entries(value, context));
        writer << count;
        auto each = Traits::begin(value, context);
        for (; count > 0; --count, ++each)
            writer << static_cast<typename Traits::value_type const&>(*each);
    }
    static void read(auto& reader, T& value) {
        compat::SerializerContext context(reader);
        std::size_t count = reader.readCount();
        Traits::reserve(value, count, context);
        for (auto out = Traits::insert(value, context); count > 0; --count, ++out) {
            typename Traits::value_type element{};
            reader >> element;
            *out = std::move(element);
        }
    }
};

template <class T>
    requires(union_like_traits<T>::value)
struct SerializedBy<T> {
    using Traits = union_like_traits<T>;
    using Pack = typename Traits::alternatives;
    static void write(auto& writer, T const& value) {
        compat::SerializerContext context(writer);
        int index = Traits::empty(value, context) ? -1 : static_cast<int>(Traits::index(value, context));
        writer << static_cast<std::uint8_t>(index + 1);
        compat::forEachOf<Pack>([&](auto i) {
            if (i() == index)
                writer << Traits::template get<i()>(value, context);
        });
    }
    static void read(auto& reader, T& value) {
        compat::SerializerContext context(reader);
        int index = static_cast<int>(*reader.readBytes(1)) - 1;
        if (index >= static_cast<int>(compat::kPackSize<Pack>))
            throw serialization_failed();
        compat::forEachOf<Pack>([&](auto i) {
            if (i() == index) {
                index_t<i(), Pack> item{};
                reader >> item;
                Traits::template assign<i()>(value, item, context);
            }
        });
    }
};

template <class T>
    requires(struct_like_traits<T>::value)
struct SerializedBy<T> {
    using Traits = struct_like_traits<T>;
    using Pack = typename Traits::types;
    static void write(auto& writer, T const& value) {
        compat::SerializerContext context(writer);
        compat::forEachOf<Pack>([&](auto i) { writer << Traits::template get<i()>(value, context); });
    }
    static void read(auto& reader, T& value) {
        compat::SerializerContext context(reader);
        compat::forEachOf<Pack>([&](auto i) {
            index_t<i(), Pack> item{};
            reader >> item;
            Traits::template assign<i()>(value, item, context);
        });
    }
};

template <class T>
    requires(serializable_traits<T>::value)
struct SerializedBy<T> {
    static void write(auto& writer, T const& value) {
        writer.writeRecord([&] { serializable_traits<T>::serialize(writer, const_cast<T&>(value)); });
    }
    static void read(auto& reader, T& value) {
        reader.readRecord([&] { serializable_traits<T>::serialize(reader, value); });
    }
};

} // namespace flow
