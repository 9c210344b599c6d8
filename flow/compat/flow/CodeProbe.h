#pragma once
// CODE_PROBE under the old header name: a macro, so there is no name to bring along.

#include "../../flow.h"
