#pragma once
// The generic actors under another of their old header names.

#include "genericactors.h"
