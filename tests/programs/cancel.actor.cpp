// Cancellation: at each wait, with and without handlers, by cancel() and by dropping the last future.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static Future<Void> operand(const char* what) {
    say("operand %s", what);
    return Void();
}

ACTOR Future<Void> child(const char* name) {
    state Token s(name);
    wait(Never());
    return Void();
}

ACTOR Future<int> plain(Token p, Future<Void> a, Future<Void> b) {
    state Token s("s");
    Token local("local");
    wait(a);
    say("past a");
    wait(b);
    say("past b");
    return 1;
}

ACTOR Future<int> swallows(bool waitsAgain) {
    state Token s("s");
    try {
        wait(child("child"));
    } catch (Error& e) {
        say("first handler: %s", e.name());
    }
    if (waitsAgain) {
        try {
            wait(operand("is still evaluated"));
            say("not reached");
        } catch (Error& e) {
            say("second handler: %s", e.name());
        }
        wait(operand("also outside"));
        say("not reached");
    }
    return 42;
}

ACTOR Future<Void> nested(Token p) {
    state Future<Void> background = child("background");
    try {
        try {
            wait(child("foreground"));
        } catch (Error& e) {
            say("inner: %s", e.name());
            wait(delay(1));
            say("not reached");
        }
    } catch (Error& e) {
        say("outer: %s", e.name());
        throw;
    }
    return Void();
}

ACTOR Future<Void> choosing() {
    state Token s("s");
    try {
        choose {
            when(wait(child("left"))) {}
            when(wait(child("right"))) {}
        }
    } catch (Error& e) {
        say("choose raised %s", e.name());
        throw;
    }
    return Void();
}

ACTOR Future<Void> dropsItself(Future<Void>* own) {
    state Token s("s");
    wait(delay(1));
    *own = Future<Void>();
    say("still running");
    try {
        wait(operand("again"));
        say("not reached");
    } catch (Error& e) {
        say("raised %s", e.name());
        throw;
    }
    return Void();
}

ACTOR UNCANCELLABLE Future<Void> stubborn(Token p) {
    wait(delay(1));
    say("stubborn goes on");
    wait(delay(1));
    say("stubborn ends");
    return Void();
}

ACTOR void detached(Token p) {
    wait(delay(1));
    say("detached goes on");
    wait(delay(1));
    say("detached ends");
}

int main() {
    SimLoop sim;
    for (int at = 0; at < 3; ++at) {
        say("-- plain, at %d", at);
        Promise<Void> a, b;
        Future<int> f = plain(Token("p"), a.getFuture(), b.getFuture());
        Future<Void> w = watch("watcher", f);
        if (at > 0)
            a.send(Void());
        if (at > 1)
            b.send(Void());
        say("cancel");
        f.cancel();
        f.cancel();
        say("cancelled");
    }

    for (bool waitsAgain : {false, true}) {
        say("-- swallows %d", waitsAgain);
        Future<int> f = swallows(waitsAgain);
        Future<Void> w = watch("watcher", f);
        f.cancel();
    }

    say("-- nested");
    Future<Void> n = nested(Token("p"));
    n = Future<Void>();
    say("dropped");

    say("-- choose");
    Future<Void> c = choosing();
    c = Future<Void>();
    say("dropped");

    say("-- drops itself");
    Future<Void> own = dropsItself(&own);
    sim.run();

    say("-- uncancellable");
    Future<Void> s = stubborn(Token("p"));
    s.cancel();
    s = Future<Void>();
    say("dropped");
    sim.run();

    say("-- void");
    detached(Token("p"));
    sim.run();
}
