#pragma once
// Serialisation under the old header name.

#include "../../flow.h"

using flow::AssumeVersion;
using flow::BinaryReader;
using flow::BinaryWriter;
using flow::currentProtocolVersion;
using flow::IncludeVersion;
using flow::ProtocolVersion;
using flow::serializer;
using flow::Unversioned;
