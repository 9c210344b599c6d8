#pragma once
// What coroutines use, under the old header name.

#include "../../structured/generator.h"
#include "CoroUtils.h"

using flow::Generator;
