#pragma once
// Coroutines, under the header name of newer programs. The parts that implement coroutines are not here.

#include "CoroUtils.h"
#include "Coroutines.h"
