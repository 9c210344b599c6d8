#include "flow/actorcompiler.h"
#include "flow/flow.h"

#include <map>
ACTOR Future<Void> f(flow::Future<Void> x) {
    wait(x);
    return Void();
}
