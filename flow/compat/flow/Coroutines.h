#pragma once
// What coroutines use, under the old header name.

#include "CoroUtils.h"
