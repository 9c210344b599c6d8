#pragma once
// TLSConfig under another old header name.

#include "TLSConfig.h"

#include "flow.h" // as Flow does; last, since it includes this file
