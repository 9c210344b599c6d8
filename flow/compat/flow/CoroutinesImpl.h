#pragma once
// Coroutines, under the header name of newer programs. What their coroutines are made of is not here.

#include "CoroUtils.h"
#include "Coroutines.h"
