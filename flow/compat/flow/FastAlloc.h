#pragma once
// The allocator under the old header name.

#include "../../flow.h"

using flow::FastAllocated;
using flow::FastAllocator;
