// void actors and UNCANCELLABLE ones: they run without a future, and an error that escapes them is reported.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR void falls(Token p, int times) {
    state Token s("s");
    while (times-- > 0) {
        Token t("t");
        wait(delay(1));
        say("at %g", now());
    }
    say("falls off its end");
}

ACTOR void returns(bool early) {
    if (early)
        return;
    wait(delay(1));
    try {
        wait(delay(1));
        return;
    } catch (Error&) {
        say("not reached");
    }
    say("not reached");
}

ACTOR void failing(Token p) {
    wait(delay(1));
    throw io_error();
}

ACTOR void failingAtOnce(Token p, bool fails) {
    if (fails)
        throw timed_out();
    wait(delay(1));
}

ACTOR UNCANCELLABLE Future<int> stubborn(Token p, bool fails) {
    try {
        wait(delay(1));
        if (fails)
            throw timed_out();
        wait(delay(1));
    } catch (Error& e) {
        say("handler: %s", e.name());
        throw;
    }
    say("stubborn ends");
    return 3;
}

ACTOR void empty() {}  // actorc: allow A0506

ACTOR void endless(Future<Void> stop) {
    state Token s("s");
    loop {
        choose {
            when(wait(delay(1))) { say("tick"); }
            when(wait(stop)) {
                say("stop");
                break;
            }
        }
    }
}

int main() {
    SimLoop sim;
    setDroppedErrorHandler([](const char*, Error error) { say("dropped: %s", error.name()); });
    falls(Token("p"), 2);
    say("called");
    sim.run();
    returns(true);
    returns(false);
    empty();
    failing(Token("p"));
    sim.run();
    failingAtOnce(Token("p"), true);
    say("--");
    Future<int> f = stubborn(Token("p"), false);
    Future<int> g = f;
    f = Future<int>();
    g.cancel();
    say("%d", sim.run(g));
    g = stubborn(Token("p"), true);
    g = Future<int>();
    sim.run();
    say("--");
    Promise<Void> stop;
    endless(stop.getFuture());
    sim.run(Future<Void>(delay(1.5)));
    stop.send(Void());
    say("end");
}
