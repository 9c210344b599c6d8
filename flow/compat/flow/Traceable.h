#pragma once
// The text of values in a TraceEvent, under the header name of newer programs.

#include "Trace.h"
