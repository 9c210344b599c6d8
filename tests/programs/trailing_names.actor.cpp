// Names that end in an underscore are the program's: nothing that actorc emits takes them.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static int entry_ = 5;

struct Config {
    inline static Error error_ = timed_out();

    ACTOR static Future<int> fails() {
        try {
            wait(delay(0.1));
            throw operation_failed();
        } catch (Error& e) {
            say("caught %s", e.name());
        }
        throw error_;
    }
};

ACTOR Future<int> adds(Future<int> in) {
    try {
        int y = wait(in);
        entry_ += y;
        say("%d", entry_);
    } catch (Error& e) {
        say("not reached: %s", e.name());
    }
    return entry_;
}

ACTOR Future<int> hides(Future<int> in, int wait_, int arg_in) {
    state int y_ = 100;
    state int choose_ = 1000;
    int y = wait(in);
    return y + y_ + choose_ + wait_ + arg_in;
}

int main() {
    SimLoop sim;
    auto failing = watch("fails", Config::fails());
    sim.run();
    Promise<int> number;
    auto adding = watch("adds", adds(number.getFuture()));
    auto hiding = watch("hides", hides(number.getFuture(), 10000, 100000));
    number.send(7);
}
