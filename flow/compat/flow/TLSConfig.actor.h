#pragma once
// TLSConfig under another old header name.

#include "TLSConfig.h"

#include "flow.h" // as in Flow; must be last, because it includes this file
