#pragma once
// Optional and ErrorOr, under the header's name in newer versions of Flow.

#include "Arena.h"
