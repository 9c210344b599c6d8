#pragma once
// ActorCollection under the old header name.

#include "../../flow.h"

using flow::ActorCollection;
