#pragma once
// Coroutines, under the header's name in newer versions of Flow, without the parts that implement them.

#include "CoroUtils.h"
#include "Coroutines.h"
