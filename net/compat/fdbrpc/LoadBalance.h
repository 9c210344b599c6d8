#pragma once
// loadBalance() and basicLoadBalance() under the old header name.

#include "MultiInterface.h"

using flow::net::AtMostOnce;
using flow::net::basicLoadBalance;
using flow::net::loadBalance;
