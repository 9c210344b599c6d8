// The keyword view of actors for editors; must be the last include of an .actor.cpp file.
//
//     #include "flow/flow.h"
//     #include "flow/actorcompiler.h"
//
//     ACTOR Future<int> twice(Future<int> x) { int v = wait(x); return 2 * v; }
//
// In the build actorc reads the keywords itself. A wait that it did not rewrite, because it stands where no wait can,
// finds the deleted functions below and is a compile error.

#include "flow/base/caught_exception.h"
#include "flow/base/range_state.h"
#include "flow/base/state_slot.h"
#include "flow/core/stream.h"
#include "flow/loop/delay.h"

#ifndef FLOW_ACTORCOMPILER_WAITS
#define FLOW_ACTORCOMPILER_WAITS
#ifdef POST_ACTOR_COMPILER
template <class T>
T wait(flow::Future<T> const&) = delete;
void wait(flow::Delay) = delete;
void wait(flow::Never) = delete;
template <class T>
T waitNext(flow::FutureStream<T> const&) = delete;
#else // never called: they exist so that editors know the types
template <class T>
T wait(flow::Future<T> const&);
flow::Void wait(flow::Delay);
flow::Void wait(flow::Yield);
flow::Void wait(flow::Never);
template <class T>
T waitNext(flow::FutureStream<T> const&);
#endif
#endif

#include "flow/actor/keywords.h"
