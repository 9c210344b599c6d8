#pragma once
// ObjectWriter and ObjectReader, under the old header name.

#include "serialize.h"
