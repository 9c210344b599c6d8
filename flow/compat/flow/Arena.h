#pragma once
// Arenas and what is stored in them, under the old header name.

#include "../../flow.h"

using flow::Arena;
using flow::LiteralStringRef;
using flow::makeString;
using flow::mutateString;
using flow::Optional;
using flow::Standalone;
using flow::StringRef;
using flow::VectorRef;
using flow::operator""_sr;
using flow::printable;

/// Its first elements lie in the arena too, not in the vector itself.
template <class T, int InlineMembers = 1>
using SmallVectorRef = flow::VectorRef<T>;
