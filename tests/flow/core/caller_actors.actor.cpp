// Actors for caller_test.cpp, as state machines.

#include "flow/flow.h"

using namespace flow;
#include "flow/actorcompiler.h"

ACTOR Future<int> waitsForNothing(Future<int> nothing) {
    int x = wait(nothing);
    return x;
}
ACTOR Future<int> choosesNothing(Future<int> nothing) {
    choose { when(int x = wait(nothing)) { return x; } }
}
