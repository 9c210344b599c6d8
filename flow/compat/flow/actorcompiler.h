// The last include of an .actor.cpp, under the old name. No include guard: unactorcompiler.h undoes it.

#include "../../actorcompiler.h"

#include "../loop_keyword.h" // for text outside of actors
