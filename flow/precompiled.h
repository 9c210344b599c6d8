#pragma once
// A precompiled header for all sources of the libraries, in the builds of the tests with clang. It has headers that
// nearly all sources include and that seldom change. No file includes this header: each file includes the headers
// that it uses. This header is not installed.

#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
