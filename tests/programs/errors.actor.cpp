// Where errors come from, and which handler gets them.
#include "flow/sim.h"
#include "trace.h"
#include <stdexcept>

#include "flow/actorcompiler.h"

static Future<Void> failed(Error error) {
    return error;
}
static Future<Void> throwsInOperand() {
    throw io_error();
}
static int throwsStd() {
    throw std::runtime_error("from std");
}
static int value(int x) {
    if (x < 0)
        throw operation_failed();
    return x;
}

ACTOR Future<int> places(int place) {
    state Token s("s");
    try {
        Token t("t");
        if (place == 0)
            wait(failed(timed_out()));
        if (place == 1)
            wait(throwsInOperand());
        if (place == 2)
            throwsStd();
        if (place == 3)
            throw end_of_stream();
        if (place == 4)
            return value(-1);
        if (place == 5)
            [] { throw file_not_found(); }();
        wait(delay(1));
        if (place == 6)
            throwsStd();
        if (place == 7)
            return value(7);
        wait(failed(not_implemented()));
    } catch (Error& e) {
        say("handler: %s", e.name());
        if (place == 3)
            throw io_error();
        if (place == 4)
            throwsStd();
        if (place == 5)
            throw;
        return -e.code();
    }
    return 0;
}

ACTOR Future<Void> afterTry(int place) {
    try {
        wait(delay(1));
    } catch (Error&) {
        say("not reached");
    }
    if (place == 0)
        wait(throwsInOperand());
    if (place == 1)
        throwsStd();
    if (place == 2)
        throw timed_out();
    try {
        throw io_error();
    } catch (...) {
        say("anything");
    }
    throwsStd();
    return Void();
}

ACTOR Future<Void> flags() {
    try {
        wait(failed(Error(10007).asInjectedFault()));
    } catch (Error& e) {
        say("code %d, injected %d", e.code(), e.isInjectedFault());
        throw e;
    }
    return Void();
}

// A state with a throwing initialiser: the actor fails as if its body had thrown.
ACTOR Future<Void> badState() {
    state Token before("before");
    state int x = value(-1);
    wait(delay(1));
    say("not reached %d", x);
    return Void();
}

int main() {
    SimLoop sim;
    for (int place = 0; place < 9; ++place) {
        say("-- place %d", place);
        sim.run(watch("result", places(place)));
    }
    for (int place = 0; place < 4; ++place) {
        say("-- after try, %d", place);
        sim.run(watch("result", afterTry(place)));
    }
    Future<Void> f = flags();
    say("ends with code %d, injected %d", f.getError().code(), f.getError().isInjectedFault());
    sim.run(watch("bad state", badState()));
}
