#pragma once
// Arenas and the types that they store, under the old header name.

#include "../../flow.h"

#include <algorithm>
#include <cstdint>
#include <string>

using flow::Arena;
using flow::LiteralStringRef;
using flow::makeString;
using flow::mutateString;
using flow::Optional;
using flow::Standalone;
using flow::StringRef; // a conflict? Write #include "flow/forward.h" in place of the declaration.
using flow::VectorRef;
using flow::operator""_sr;
using flow::printable;

/// The name of the file as a StringRef.
#define __FILE__sr flow::StringRef(__FILE__)

/// Stores all elements in the arena. Flow stores the first ones in the vector.
template <class T, int InlineMembers = 1>
using SmallVectorRef = flow::VectorRef<T>;

/// Returns "[not set]" if there is no text.
template <class T>
std::string printable(flow::Optional<T> const& text) {
    return text.present() ? flow::printable(flow::StringRef(text.get())) : "[not set]";
}
/// Returns all texts, with a blank after each.
inline std::string printable(flow::VectorRef<flow::StringRef> texts) {
    std::string all;
    for (flow::StringRef const& text : texts)
        all += flow::printable(text) + " ";
    return all;
}

/// Returns the texts, joined, in the arena.
template <class... Texts>
flow::StringRef concatenateStrings(flow::Arena& arena, Texts const&... texts) {
    flow::StringRef joined = flow::makeString((0 + ... + texts.size()), arena);
    std::uint8_t* end = flow::mutateString(joined);
    ((end = texts.copyTo(end)), ...);
    return joined;
}
/// Returns the texts, joined, in a new arena.
template <class... Texts>
flow::Standalone<flow::StringRef> concatenateStrings(flow::StringRef first, Texts const&... others) {
    flow::Arena arena;
    flow::StringRef joined = concatenateStrings(arena, first, others...);
    return flow::Standalone<flow::StringRef>(joined, arena);
}

/// Returns the number of equal bytes at the start of both.
inline int commonPrefixLength(flow::StringRef a, flow::StringRef b) {
    return static_cast<int>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}
