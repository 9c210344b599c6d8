#pragma once
// ContinuousSample under its older header name.

#include "../../../flow/compat/flow/ContinuousSample.h"
