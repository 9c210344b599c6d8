// Eager start, ready waits, and the order in which waiters run: last come, first served, each up to its next suspension.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<Void> waiter(const char* name, Future<int> f) {
    say("%s starts", name);
    int v = wait(f);
    say("%s got %d", name, v);
    wait(delay(1));
    say("%s ends at %g", name, now());
    return Void();
}

ACTOR Future<int> relay(const char* name, Future<int> f) {
    int v = wait(f);
    say("%s passes on %d", name, v + 1);
    return v + 1;
}

int main() {
    SimLoop sim;
    Promise<int> p;
    Future<Void> a = waiter("a", p.getFuture());
    Future<Void> b = waiter("b", p.getFuture());
    Future<Void> c = waiter("c", p.getFuture());
    say("send");
    p.send(7);
    say("sent");
    Future<Void> d = waiter("d", p.getFuture());
    say("d is ready: %d", d.isReady());
    sim.run();

    // A whole chain is resumed inside send(); the second waiter of the first future comes after the whole chain.
    Promise<int> q;
    Future<Void> late = watch("late", q.getFuture());
    Future<int> one = relay("one", q.getFuture());
    Future<int> two = relay("two", one);
    Future<Void> twoWatch = watch("two", two);
    Future<Void> oneWatch = watch("one", one);
    q.send(10);
    say("end at %g", now());
}
