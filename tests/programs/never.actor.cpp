// `return Never()` releases everything the actor holds; `wait(Never())` keeps it.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> returnsNever(Token p, Future<Void> f) {
    state Token s("s");
    wait(f);
    Token local("local");
    return Never();
}

ACTOR Future<int> waitsForNever(Token p) {
    state Token s("s");
    wait(Never());
    return 1;
}

ACTOR Future<int> typedNever() {
    int x = wait(Never());
    return x;
}

ACTOR Future<Void> neverInTry(bool later) {
    try {
        if (later)
            wait(delay(1));
        return Never();
    } catch (Error& e) {
        say("not reached: %s", e.name());
    }
    return Void();
}

int main() {
    SimLoop sim;
    Promise<Void> p;
    Future<int> a = returnsNever(Token("p"), p.getFuture());
    {
        Future<Void> w = watch("watcher", a);
        p.send(Void());
        say("ready: %d, error: %d", a.isReady(), a.isError());
        a.cancel();
        say("cancelling it does nothing: ready %d", a.isReady());
    }
    say("--");
    {
        Future<int> b = waitsForNever(Token("p"));
        say("ready: %d", b.isReady());
        b.cancel();
        say("ready: %d", b.isReady());
    }
    Future<int> c = typedNever();
    say("ready: %d", c.isReady());
    Future<Void> d = neverInTry(false);
    Future<Void> e = neverInTry(true);
    sim.run();
    say("ready: %d %d", d.isReady(), e.isReady());
}
