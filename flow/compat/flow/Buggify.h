#pragma once
// BUGGIFY, BUGGIFY_WITH_PROB and EXPENSIVE_VALIDATION under the old header name: false outside of a simulation. The
// first two are buggify() of flow/base/buggify.h, and so are the macros for clients.

#include "../../base/buggify.h"
#include "../../base/random.h"
#include "../../loop/loop.h"

#define BUGGIFY (::flow::buggify())
#define BUGGIFY_WITH_PROB(probability) (::flow::buggify(probability))
#define CLIENT_BUGGIFY BUGGIFY
#define CLIENT_BUGGIFY_WITH_PROB(probability) BUGGIFY_WITH_PROB(probability)
#define EXPENSIVE_BUGGIFY BUGGIFY
#define EXPENSIVE_BUGGIFY_WITH_PROB(probability) BUGGIFY_WITH_PROB(probability)

namespace flow::compat {
inline bool isExpensiveValidationOn() {
    return hasLoop() && Loop::current().isSimulated() && deterministicRandom()->random01() < 0.05;
}
} // namespace flow::compat

/// True in one of twenty visits in a simulation: then make a check that takes long.
#define EXPENSIVE_VALIDATION (::flow::compat::isExpensiveValidationOn())
