// The next wait destroys a plain local, whether or not it suspends: after the operand was evaluated, before the actor
// goes on or its caller does.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static Future<Void> ready(const char* what) {
    say("operand %s", what);
    return Void();
}

static Future<Void> failing(Token const&) {
    return timed_out();
}

ACTOR Future<Void> atReadyWaits() {
    Token a("a");
    wait(ready(a.name()));
    say("after the first wait");
    Token b("b");
    {
        Token inner("inner");
        wait(ready("in the block"));
        say("still in the block");
        Token last("last");
        say("at its end");
    }
    say("after the block");
    return Void();
}

ACTOR Future<Void> atSuspendingWaits(Future<int> f) {
    Token a("a");
    int first = wait(f);
    Token b("b");
    say("got %d", first);
    wait(delay(first));
    say("ends");
    return Void();
}

ACTOR Future<Void> temporaries() {
    Token a("a");
    wait(ready(Token("temporary").name()));
    say("after");
    return Void();
}

ACTOR Future<Void> results(FutureStream<Token> stream) {
    Token first = waitNext(stream);
    say("first is %s", first.name());
    Token second = waitNext(stream);
    say("second is %s", second.name());
    state Token kept = waitNext(stream);
    say("kept is %s", kept.name());
    return Void();
}

using TokenRef = Token&;

ACTOR Future<Void> references(Token token) {
    TokenRef first = token;
    say("refers to %s", first.name());
    wait(delay(1));
    if (TokenRef second = token; second.name()) {
        wait(delay(1));
        say("waited with %s", token.name());
    }
    return Void();
}

ACTOR Future<Void> beforeHandlers() {
    try {
        Token a("a");
        wait(failing(Token("temporary")));
    } catch (Error& e) {
        say("handler of %s", e.name());
        Token h("h");
        wait(delay(1));
        say("handler goes on");
    }
    return Void();
}

ACTOR Future<Void> inLoops() {
    for (state int i = 0; i < 4; i++) {
        Token t("pass " + std::to_string(i));
        if (i == 1)
            continue;
        if (i == 3)
            break;
        wait(delay(1));
        say("waited in pass %d", i);
    }
    say("after the loop");
    return Void();
}

int main() {
    SimLoop sim;
    sim.run(atReadyWaits());

    say("-- suspending");
    Promise<int> p;
    Future<Void> f = atSuspendingWaits(p.getFuture());
    say("started");
    p.send(1);
    say("sent");
    sim.run(f);

    say("-- temporaries");
    sim.run(temporaries());

    say("-- results");
    PromiseStream<Token> s;
    Future<Void> r = results(s.getFuture());
    s.send(Token("one"));
    s.send(Token("two"));
    s.send(Token("three"));
    say("sent");

    say("-- references");
    sim.run(references(Token("referred to")));

    say("-- handlers");
    sim.run(beforeHandlers());
    say("-- loops");
    sim.run(inLoops());
}
