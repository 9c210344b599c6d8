#pragma once
// TLSConfig under another of its old header names.

#include "TLSConfig.h"
