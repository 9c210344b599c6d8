#pragma once
// Descriptor: lists the names, types and comments of a struct's fields, for tables, traces and serialisers.
//
//     DESCR struct Sample {        // in an .actor.cpp or .actor.h file
//         double latency;          //seconds until the answer
//         int64_t bytes;           //size of the answer
//     };
//
//     forEachField(sample, [](auto field, auto const& value) { print(field.name(), value, field.comment()); });
//
// `Descriptor<Sample>` has
//     type                        Sample
//     typeName()                  "Sample"
//     fields                      a std::tuple of one descriptor for each field, in order
//     field_indexes               a std::index_sequence for `fields`
// and the descriptor of a field, `Descriptor<Sample>::latencyDescriptor`, has
//     type                        double
//     name() typeName() comment() "latency" "double" "seconds until the answer"
//     get(sample)                 a reference to the field
//
// A struct that actorc does not see is described by a specialisation of Descriptor with the same members.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace flow {

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
    constexpr Literal(char const (&text)[N]) { std::copy_n(text, N, characters); }
    constexpr std::string_view view() const { return {characters, N - 1}; }
    char characters[N];
};

template <class Struct, Literal Name>
struct StructDescriptor {
    using type = Struct;
    static constexpr std::string_view typeName() { return Name.view(); }
};

/// The descriptor of a field. `Member` points to the field, which may belong to a base of the described struct.
template <auto Member, Literal Name, Literal TypeName, Literal Comment>
struct FieldDescriptor;

template <class Struct, class T, T Struct::* Member, Literal Name, Literal TypeName, Literal Comment>
struct FieldDescriptor<Member, Name, TypeName, Comment> {
    using type = T;
    static constexpr std::string_view name() { return Name.view(); }
    static constexpr std::string_view typeName() { return TypeName.view(); }
    static constexpr std::string_view comment() { return Comment.view(); }
    static constexpr T& get(Struct& from) { return from.*Member; }
    static constexpr T const& get(Struct const& from) { return from.*Member; }
};

/// The descriptor of all described structs in editors, which do not run actorc. It has no fields.
struct UnknownDescriptor {
    static std::string_view typeName();
    using fields = std::tuple<>;
    using field_indexes = std::index_sequence<>;
};

/// The descriptor of T, found through descriptor__(T*) in the namespace of T. A T without that function is an error.
template <class T>
struct Descriptor : decltype(descriptor__(static_cast<T*>(nullptr))){};

/// Calls `visit(fieldDescriptor, field)` for each field in order; the fields of a const object are const.
template <class T, class Visit>
void forEachField(T&& object, Visit&& visit) {
    using Described = Descriptor<std::remove_cvref_t<T>>;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        [[maybe_unused]] auto one = [&](auto field) { visit(field, field.get(object)); };
        (one(std::tuple_element_t<I, typename Described::fields>{}), ...);
    }(typename Described::field_indexes{});
}

} // namespace flow
