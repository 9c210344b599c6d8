// State machines for fiber_and_other_styles_test.cpp, which wait for fibers, and for which fibers wait.
#include "flow/flow.h"

#include "flow/actorcompiler.h" // This must be the last #include.

using namespace flow;

namespace fiber_actors {

ACTOR Future<int> twice(Future<int> number) {
    state int found = wait(number);
    wait(delay(1));
    return 2 * found;
}

ACTOR Future<int> firstOf(Future<int> a, Future<int> b) {
    choose {
        when(int found = wait(a)) {
            return found;
        }
        when(int found = wait(b)) {
            return -found;
        }
    }
}

} // namespace fiber_actors
