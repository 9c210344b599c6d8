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
