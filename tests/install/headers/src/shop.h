#pragma once

#include "flow/core/future.h"
#include "flow/loop/loop.h"

#include <cstdint>

/// The address of a template's function.
using Template = std::uintptr_t;

Template templateInOther();
Template templateInPlain();
flow::Future<int> helperInOther(int x);
int pricesInPlain(flow::Loop& loop);
