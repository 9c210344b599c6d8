// Handlers that wait, nested handlers, and what throw does in them.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> attempt(int* tries, int succeedAt) {
    wait(delay(1));
    if (++*tries < succeedAt)
        throw timed_out();
    return *tries;
}

// The idiom of every client: try again after a pause.
ACTOR Future<int> retries(int succeedAt) {
    state int tries = 0;
    loop {
        try {
            int got = wait(attempt(&tries, succeedAt));
            return got * 10;
        } catch (Error& e) {
            say("%s at %g", e.name(), now());
            if (e.code() != error_code_timed_out)
                throw;
            wait(delay(0.5));
        }
    }
}

ACTOR Future<Void> threeDeep(int path) {
    try {
        try {
            try {
                wait(delay(1));
                throw timed_out();
            } catch (Error& e) {
                say("1: %s", e.name());
                wait(delay(1));
                if (path == 0)
                    throw io_error();
                say("1 ends");
            }
            say("in 2");
            throw end_of_stream();
        } catch (Error& e) {
            say("2: %s", e.name());
            state Error kept = e;
            wait(delay(1));
            throw kept;
        }
    } catch (Error& e) {
        say("3: %s at %g", e.name(), now());
        try {
            wait(delay(1));
            throw not_implemented();
        } catch (Error& e) {
            say("4: %s", e.name());
        }
        if (path == 0)
            return Void();
        wait(Future<Void>(operation_failed()));
    }
    return Void();
}

// A handler's error is the innermost one, and `throw;` means the handler that it stands in.
ACTOR Future<Void> rethrows(bool outer) {  // actorc: allow A0506
    try {
        throw timed_out();
    } catch (Error& e) {
        try {
            if (outer)
                throw;
            throw io_error();
        } catch (Error& e) {
            say("inner handler: %s", e.name());
            throw;
        }
    }
}

ACTOR Future<Void> inLoops() {
    state int i = 0;
    for (; i < 6; i++) {
        try {
            if (i == 0)
                continue;
            wait(delay(1));
            if (i == 1)
                throw timed_out();
            if (i == 4)
                throw io_error();
            say("pass %d", i);
        } catch (Error& e) {
            say("caught in pass %d: %s", i, e.name());
            if (e.code() == error_code_timed_out)
                continue;
            wait(delay(1));
            say("leaving");
            break;
        }
        say("end of pass %d", i);
    }
    say("at %g", now());
    return Void();
}

int main() {
    SimLoop sim;
    say("%d", sim.run(retries(3)));
    for (int path = 0; path < 2; ++path) {
        say("-- three deep, %d", path);
        sim.run(watch("end", threeDeep(path)));
    }
    for (bool outer : {false, true})
        sim.run(watch("rethrows", rethrows(outer)));
    say("-- loops");
    sim.run(inLoops());
}
