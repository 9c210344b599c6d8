#pragma once
// What coroutines use, under the old header name.

#include "../../flow.h"

using flow::race;
using flow::Uncancellable;
