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

/// The first elements of the vector are in the arena too, not in the vector itself.
template <class T, int InlineMembers = 1>
using SmallVectorRef = flow::VectorRef<T>;

/// "[not set]" for no text.
template <class T>
std::string printable(flow::Optional<T> const& text) {
    return text.present() ? flow::printable(flow::StringRef(text.get())) : "[not set]";
}
/// All texts, with a blank behind each.
inline std::string printable(flow::VectorRef<flow::StringRef> texts) {
    std::string all;
    for (flow::StringRef const& text : texts)
        all += flow::printable(text) + " ";
    return all;
}

/// The texts, one behind the other, in the arena.
template <class... Texts>
flow::StringRef concatenateStrings(flow::Arena& arena, Texts const&... texts) {
    flow::StringRef joined = flow::makeString((0 + ... + texts.size()), arena);
    std::uint8_t* end = flow::mutateString(joined);
    ((end = texts.copyTo(end)), ...);
    return joined;
}
/// Like above, with memory of its own.
template <class... Texts>
flow::Standalone<flow::StringRef> concatenateStrings(flow::StringRef first, Texts const&... others) {
    flow::Arena arena;
    flow::StringRef joined = concatenateStrings(arena, first, others...);
    return flow::Standalone<flow::StringRef>(joined, arena);
}

/// The number of bytes that both begin with.
inline int commonPrefixLength(flow::StringRef a, flow::StringRef b) {
    return static_cast<int>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}
