#pragma once
// The traits of serialized types under another of their old header names. The bytes are not those of flat buffers.

#include "ObjectSerializerTraits.h"
