// THIS and THIS_ADDR: one address for each actor that runs, the same as long as it does.
#include "flow/sim.h"
#include "trace.h"
#include <cstdint>

#include "flow/actorcompiler.h"

ACTOR Future<std::uintptr_t> address() {
    state std::uintptr_t first = THIS_ADDR;
    wait(delay(1));
    say("%d %d", first != 0, first == reinterpret_cast<std::uintptr_t>(THIS));
    return THIS_ADDR;
}

ACTOR template <class T>
Future<bool> differs(T other) {
    wait(delay(1));
    auto mine = [&] { return THIS_ADDR; };
    return mine() != other;
}

struct Object {
    ACTOR Future<bool> isObject(Object* self) {
        wait(delay(1));
        return THIS_ADDR == reinterpret_cast<std::uintptr_t>(self);
    }
};

int main() {
    SimLoop sim;
    Future<std::uintptr_t> a = address(), b = address();
    sim.run(a);
    sim.run(b);
    say("%d", a.get() != b.get());
    say("%d", sim.run(differs(a.get() + 1)));
    Object object;
    say("%d", sim.run(object.isObject(&object)));
}
