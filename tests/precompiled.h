#pragma once
// Compiled once for all unit tests: what the libraries' sources have precompiled, and what all tests include. No file
// includes it, since each includes what it uses.

#include "flow/precompiled.h"

#include <doctest/doctest.h>
