#pragma once
// LoadBalance.h under its older header name.

#include "LoadBalance.h"
