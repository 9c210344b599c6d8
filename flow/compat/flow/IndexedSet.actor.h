#pragma once
// IndexedSet under another old header name.

#include "IndexedSet.h"

#include "flow.h" // as in Flow; must be last, because it includes this file
