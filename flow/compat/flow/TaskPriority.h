#pragma once
// TaskPriority, under the header's name in newer versions of Flow.

#include "network.h"
