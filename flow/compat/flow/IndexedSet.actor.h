#pragma once
// IndexedSet under another of its old header names.

#include "IndexedSet.h"
