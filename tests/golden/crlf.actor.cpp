#include "flow/actorcompiler.h"
#include "flow/flow.h"

#include <map>
ACTOR Future<Void> f(flow::Future<int> x) {
    int y = 1 + wait(x);
    return Void();
}
