#pragma once
// The generic actors under another old header name.

#include "genericactors.h"
