#pragma once
// IndexedSet under another of its old header names.

#include "IndexedSet.h"

#include "flow.h" // as that of Flow does; last, since it includes this one
