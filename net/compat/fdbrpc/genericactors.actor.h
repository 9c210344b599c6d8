#pragma once
// genericactors.h under its older header name.

#include "genericactors.h"
