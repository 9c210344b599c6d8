#pragma once
// IndexedSet under another old header name.

#include "IndexedSet.h"

#include "flow.h" // as Flow does; last, since it includes this file
