#pragma once
// ThreadHelper.h under its older header name.

#include "ThreadHelper.h"
