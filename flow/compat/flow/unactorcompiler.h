// Undoes actorcompiler.h: the last include of an .actor.h, under the old name.

#include "../../unactorcompiler.h"
