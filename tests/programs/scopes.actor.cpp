// A Scope in actors: a state variable that holds actors, and is waited for by join() and drain().
#include "flow/sim.h"
#include "trace.h"

#include "flow/tasks/scope.h"

#include "flow/actorcompiler.h"

ACTOR Future<Void> child(const char* name, double seconds) {
    state Token token(name);
    wait(delay(seconds));
    say("%s ends", name);
    return Void();
}
ACTOR Future<int> fails(double seconds) {
    wait(delay(seconds));
    throw timed_out();
}

ACTOR Future<Void> joins() {
    state Scope scope;
    scope.spawn(child("a", 2));
    scope.spawn(child("b", 1));
    scope.spawn([] { return child("function", 3); });
    wait(scope.join());
    say("joined at %g", now());
    wait(scope.join());
    return Void();
}

ACTOR Future<Void> firstError() {
    state Scope scope;
    scope.spawn(child("a", 5));
    scope.spawn(fails(1));
    try {
        wait(scope.join());
    } catch (Error& e) {
        say("%s, %zu error", e.name(), scope.errors().size());
    }
    return Void();
}

ACTOR Future<Void> collects() {
    state Scope scope(OnError::Collect);
    scope.spawn(child("a", 2));
    scope.spawn(fails(1));
    wait(scope.join());
    say("%zu error", scope.errors().size());
    return Void();
}

ACTOR Future<Void> drains() {
    state Scope scope;
    scope.spawn(child("a", 1));
    scope.spawn(child("b", 9));
    bool inTime = wait(scope.drain(2));
    say("in time: %d", inTime);
    scope.spawn(child("c", 1));
    loop choose {
        when(wait(scope.join())) { break; }
        when(wait(delay(0.6))) { say("not yet"); }
    }
    scope.spawn(child("d", 1));
    return Void();
}

int main() {
    SimLoop sim;
    say("-- join");
    sim.run(joins());
    say("-- the first error");
    sim.run(firstError());
    say("-- all errors");
    sim.run(collects());
    say("-- drain, a choose, and the end of the scope");
    sim.run(drains());
    say("-- a cancel");
    Future<Void> cancelled = joins();
    cancelled.cancel();
    say("%s", cancelled.getError().name());
}
