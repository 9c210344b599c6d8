#pragma once
// BUGGIFY and BUGGIFY_WITH_PROB under the old header name: buggify() of flow/base/buggify.h, false outside of a
// simulation.

#include "../../base/buggify.h"

#define BUGGIFY (::flow::buggify())
#define BUGGIFY_WITH_PROB(probability) (::flow::buggify(probability))
