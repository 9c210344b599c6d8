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

/// Whether an archive writes or reads objects, as those of Flow's flat buffers do.
template <class Ar>
inline constexpr bool is_fb_function = std::is_base_of_v<ObjectWriter, Ar> || std::is_base_of_v<ObjectReader, Ar>;
