// Undoes actorcompiler.h, except `loop`: the last include of an .actor.h, under the old name.

#include "../../unactorcompiler.h"

#include "../loop_keyword.h"
