#pragma once
// Traceable, the text of values in a TraceEvent, under the header's name in newer versions of Flow.

#include "Trace.h"
