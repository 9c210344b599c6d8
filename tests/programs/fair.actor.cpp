// Operations that are always ready: others have their turns, in waits and chooses, and nothing is lost.
#include "trace.h"

#include "flow/sim/sim_loop.h"
#include "tests/flow/support/tap.h"

#include "flow/actorcompiler.h"

using test::Tap;

ACTOR Future<Void> waits(Tap* tap) {
    while (tap->isOpen()) {
        int amount = wait(tap->draw());
        tap->got(amount);
    }
    return Void();
}
ACTOR Future<Void> waitsInHandler(Tap* tap) {
    try {
        while (tap->isOpen()) {
            int amount = wait(tap->draw());
            tap->got(amount);
        }
    } catch (Error& e) {
        say("failed: %s", e.name());
        throw;
    }
    return Void();
}
ACTOR Future<Void> chooses(Tap* tap, Future<Void> never) {
    while (tap->isOpen()) {
        choose {
            when(int amount = wait(tap->draw())) { tap->got(amount); }
            when(wait(never)) { say("never"); }
        }
    }
    return Void();
}
ACTOR Future<Void> choosesLast(Tap* tap, Future<Void> never) {
    while (tap->isOpen()) {
        choose {
            when(wait(never)) { say("never"); }
            when(int amount = wait(tap->draw())) { tap->got(amount); }
        }
    }
    return Void();
}
ACTOR Future<Void> choosesOfTwo(Tap* tap) {
    try {
        while (tap->isOpen()) {
            choose {
                when(int amount = wait(tap->draw())) { tap->got(amount); }
                when(int amount = wait(tap->draw())) { tap->got(amount); }
            }
        }
    } catch (Error& e) {
        say("failed: %s", e.name());
        throw;
    }
    return Void();
}
/// An operation that is put off leaves the choose to a future that is ready.
ACTOR Future<int> choosesReady(Tap* tap, Future<Void> ready) {
    state int drawn = 0;
    state int i = 0;
    wait(delay(0));
    for (; i < 1000; ++i) {
        choose {
            when(int amount = wait(tap->draw())) {
                tap->got(amount);
                ++drawn;
            }
            when(wait(ready)) {}
        }
    }
    return drawn;
}

ACTOR Future<Void> both(Future<Void> a, Future<Void> b) {
    wait(a);
    wait(b);
    return Void();
}

void check(char const* what, Tap& tap, Future<Void> drinking, int turns) {
    SimLoop& sim = static_cast<SimLoop&>(Loop::current());
    sim.run(both(tap.watch(turns), drinking));
    say("%s: %d turns, few in each %d, even %d", what, tap.turns(), tap.mostInTurn() <= 1000, tap.isEven());
}

int main() {
    SimLoop sim;
    Tap taps[5];
    check("waits", taps[0], waits(&taps[0]), 20);
    check("waits in a handler", taps[1], waitsInHandler(&taps[1]), 20);
    check("chooses", taps[2], chooses(&taps[2], Never()), 20);
    check("chooses it last", taps[3], choosesLast(&taps[3], Never()), 20);
    check("chooses of two", taps[4], choosesOfTwo(&taps[4]), 20);

    Tap tap;
    int drawn = sim.run(choosesReady(&tap, Void()));
    say("some were drawn %d, not all %d, even %d", drawn > 0, drawn < 1000, tap.isEven());

    Tap last;
    Future<Void> cancelled = chooses(&last, Never());
    say("it is put off %d", !cancelled.isReady());
    cancelled.cancel();
    sim.run();
    say("even %d", last.isEven());
}
