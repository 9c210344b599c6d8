#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"

ACTOR Future<int> several(Future<int> a, Future<int> b, int value) {
    use(wait(a), value, wait(b));
    if (value > 3) {
        use(wait(a));
        use(wait(b));
    }
    return wait(a) + (value > 3 ? wait(b) : 0);
}

ACTOR Future<int> another(Future<int> a) {
    return 1 + wait(a);
}
