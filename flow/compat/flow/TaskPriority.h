#pragma once
// TaskPriority, under the header name of newer programs.

#include "network.h"
