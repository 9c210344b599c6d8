// Waits on some paths only: a wait that is executed destroys a plain local, which lives on without one.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static void fails() {
    throw io_error();
}

ACTOR Future<Void> branches(int path) {
    Token a("a");
    if (path == 0) {
        Token b("b");
        wait(delay(1));
        say("waited");
    } else if (path == 1) {
        say("no wait");
    } else {
        Token c("c");
        if (path == 3) {
            wait(delay(1));
            say("waited inside");
        }
        say("end of else");
    }
    say("after if");
    wait(delay(1));
    say("last");
    return Void();
}

ACTOR Future<Void> inTry(int path) {
    Token a("a");
    try {
        Token b("b");
        if (path == 0)
            throw timed_out();
        if (path == 1)
            wait(Future<Void>(timed_out()));
        if (path == 2)
            fails();
        say("body goes on");
        wait(delay(1));
        say("body ends");
    } catch (Error& e) {
        say("handler of %s", e.name());
        if (path == 2)
            wait(delay(1));
        say("handler ends");
    }
    say("after try");
    return Void();
}

ACTOR Future<Void> inLoop(int waitAt) {
    Token a("a");
    state int i = 0;
    while (i < 3) {
        Token b("b" + std::to_string(i));
        if (i == waitAt) {
            wait(delay(1));
            say("waited");
        }
        say("pass %d", i);
        i++;
    }
    say("after loop");
    return Void();
}

ACTOR Future<Void> inChoose(int path) {
    Token a("a");
    if (path) {
        Token b("b");
        choose {
            when(wait(delay(1))) { say("first"); }
            when(wait(delay(2))) { say("second"); }
        }
        say("after choose");
    }
    Token c("c");
    if (path)
        say("c lives beside nothing");
    else
        say("c lives beside a");
    wait(delay(1));
    return Void();
}

ACTOR Future<Void> inConditions(int path) {
    if (Token t("t"); path == 1) {
        wait(delay(1));
        say("waited");
    } else if (Token u("u"); path == 2) {
        say("then");
        wait(delay(1));
        say("waited behind two");
    } else {
        say("else");
    }
    say("after if");
    return Void();
}

ACTOR Future<Void> endsInside(int path) {
    Token a("a");
    if (path == 0) {
        wait(delay(1));
        return Void();
    }
    say("a lives on");
    Token b("b");
    if (path == 1) {
        wait(delay(1));
        throw io_error();
    }
    say("so does b");
    return Void();
}

int main() {
    SimLoop sim;
    for (int path = 0; path < 4; ++path) {
        say("-- branches %d", path);
        sim.run(branches(path));
    }
    for (int path = 0; path < 4; ++path) {
        say("-- try %d", path);
        sim.run(inTry(path));
    }
    for (int waitAt : {0, 1, 5}) {
        say("-- loop %d", waitAt);
        sim.run(inLoop(waitAt));
    }
    for (int path = 0; path < 2; ++path) {
        say("-- choose %d", path);
        sim.run(inChoose(path));
    }
    for (int path = 1; path < 4; ++path) {
        say("-- condition %d", path);
        sim.run(inConditions(path));
    }
    for (int path = 0; path < 3; ++path) {
        say("-- ends %d", path);
        Future<Void> w = watch("end", endsInside(path));
        sim.run(w);
    }
}
