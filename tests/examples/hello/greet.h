#pragma once
#include "flow/flow.h"

/// Prints a greeting each tenth of a second, and returns how many it has printed. An actor copies its parameters; its
/// callers see each as T const&.
flow::Future<int> greet(std::string const& name, int const& times);
