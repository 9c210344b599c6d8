// Undoes actorcompiler.h: the last include of an .actor.h.

#include "../../unactorcompiler.h"

#undef THIS
#undef THIS_ADDR
