#pragma once
// Optional and ErrorOr, under the header name of newer programs.

#include "Arena.h"
