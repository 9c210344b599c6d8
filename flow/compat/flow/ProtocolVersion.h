#pragma once
// ProtocolVersion under another old header name.

#include "serialize.h"
