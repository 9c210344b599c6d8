// Names of the program are its own, whatever the emitted code calls its things.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

using Nothing = Void;
namespace other {
struct Value {
    int value;
};
using Nothing = flow::Void;
} // namespace other

ACTOR Future<int> loopDepth(int error, int value, int destroy) {
    state int cancel = error + 1;
    state int send = value + 1;
    state int resume = destroy + 1;
    state int entry = 1;
    state int link = 2;
    int park = 5;
    int ready = wait(delayed(Future<int>(park), 1));
    cancel += ready;
    choose {
        when(int finish = wait(delayed(Future<int>(entry), 1))) { send += finish; }
        when(wait(Never())) {}
    }
    return error + value + destroy + cancel + send + resume + entry + link;
}

ACTOR Future<int> start(int actor, int flow, int std) {
    state int self = actor;
    state int frame = flow;
    state int wait_ = std;
    try {
        wait(delay(1));
        int fail = self;
        say("%d", fail);
        throw end_of_stream();
    } catch (Error& caught) {
        say("%s", caught.name());
        int never = frame;
        wait_ += never;
    }
    wait(delay(1));
    return self + frame + wait_;
}

// A parameter with the actor's own name.
ACTOR Future<int> pending(int pending) {
    int seconds = pending;
    wait(delay(seconds));
    return pending;
}

ACTOR template <class T>
Future<T> returned(T value_, T raised_) {
    wait(delay(1));
    if (value_ < raised_)
        return value_ + 0;
    Error raised = timed_out();
    throw raised;
}

ACTOR Future<other::Value> structured(int value_) {
    wait(delay(1));
    return other::Value{value_ + 1};
}

// Void by other names.
ACTOR Future<Nothing> alias(Future<Nothing> f) {
    wait(f);
    return Nothing();
}

ACTOR Future<other::Nothing> qualified(bool early) {
    if (early)
        return wait(Future<Void>(Void()));
    wait(delay(1));
    return Void();
}

// Errors of actors without a future are reported, in whatever way they arise.
ACTOR void throws(double seconds) {
    wait(delay(seconds));
    throw io_error();
}

ACTOR void passes(Future<int> f) {
    int x = wait(f);
    say("%d", x);
}

int main() {
    SimLoop sim;
    setDroppedErrorHandler([](const char*, Error error) { say("dropped: %s", error.name()); });
    say("%d", sim.run(loopDepth(1, 2, 3)));
    say("%d", sim.run(start(1, 2, 3)));
    say("%d", sim.run(pending(4)));
    say("%d", sim.run(returned(4, 5)));
    auto w = watch("returned", returned(5, 4));
    sim.run(Future<Void>(delay(2)));
    say("%d", sim.run(structured(6)).value);
    sim.run(alias(delayed(Future<Void>(Void()), 1)));
    sim.run(qualified(true));
    sim.run(qualified(false));
    say("at %g", now());
    throws(1);
    passes(timed_out());
    passes(7);
    sim.run();
}
