// The last include of an .actor.cpp, under the old name. No include guard on purpose: unactorcompiler.h undoes it.
//
// In what actorc emits, `loop` is an endless while, for text outside of actors, and THIS is `this`, which only actors
// compiled to state machines and member actors have.

#include "../../actorcompiler.h"

#ifdef POST_ACTOR_COMPILER
#undef loop
#define loop while (true)
#undef THIS
#define THIS this
#undef THIS_ADDR
#define THIS_ADDR (reinterpret_cast<std::uintptr_t>(this))
#else
#undef THIS
#define THIS nullptr
#undef THIS_ADDR
#define THIS_ADDR (std::uintptr_t{0})
#endif
