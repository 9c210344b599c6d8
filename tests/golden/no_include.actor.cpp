// It has includes, but not the one for actors.
#include "flow/flow.h"

ACTOR Future<Void> f(flow::Future<Void> x) {
    wait(x);
    return Void();
}
