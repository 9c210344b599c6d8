#pragma once
// resolve: the addresses of a name.

#include "flow/core/future.h"

#include <string>

/// Returns the addresses, one in each line, without ports.
flow::Future<std::string> resolve(std::string name);
