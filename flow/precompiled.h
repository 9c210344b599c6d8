#pragma once
// A precompiled header for all sources of the libraries, in the builds of the tests with clang: headers that nearly all
// sources include and that seldom change. No file includes it. It is not installed.

#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
