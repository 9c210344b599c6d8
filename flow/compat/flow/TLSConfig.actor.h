#pragma once
// TLSConfig under another of its old header names.

#include "TLSConfig.h"

#include "flow.h" // as that of Flow does; last, since it includes this one
