#pragma once
// ProtocolVersion under another of its old header names.

#include "serialize.h"
