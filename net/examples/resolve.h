#pragma once
// resolve: the addresses of a name.

#include "flow/core/future.h"

#include <string>

/// One a line, without ports.
flow::Future<std::string> resolve(std::string name);
