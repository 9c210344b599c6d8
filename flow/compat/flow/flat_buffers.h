#pragma once
// The traits of serialized types under another old header name. The bytes are not those of flat buffers.

#include "ObjectSerializerTraits.h"
