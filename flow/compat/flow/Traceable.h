#pragma once
// What a TraceEvent shows, under the header name of newer programs.

#include "Trace.h"
