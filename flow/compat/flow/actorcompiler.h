// The last include of an .actor.cpp, under the old name. No include guard on purpose: unactorcompiler.h undoes it.

#include "../../actorcompiler.h"

#ifdef POST_ACTOR_COMPILER // for text outside of actors
#undef loop
#define loop while (true)
#endif
