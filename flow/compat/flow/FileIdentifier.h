#pragma once
// Identifiers of serialized structs, under the old header name.

#include "serialize.h"
