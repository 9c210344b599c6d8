// __LINE__ and __FILE__ in actors are those of this file.
#include "flow/sim.h"
#include "trace.h"
#include <cstring>
#include "flow/actorcompiler.h"

ACTOR Future<Void> lines(Future<Void> f,
                         int parameter = __LINE__) { // line 8
    state int leading = __LINE__;


    // Comments and empty lines,


    /* of any
       length, do not count. */
    say("parameter %d, leading %d, here %d", parameter, leading, __LINE__); // line 17
    wait(
        f);
    say("after a wait: %d", __LINE__); // line 20
    state int later
        = __LINE__; // line 22
    for (state int i = 0; i < 2; i++) { Token t; wait(delay(1)); say("in a loop: %d", __LINE__); } // line 23
    if (later) {
        Token t;
        try {
            wait(delay(1));
            say("in a try: %d",
                __LINE__); // line 29
            throw timed_out();
        }
        catch (Error& e) {
            say("in a handler: %d", __LINE__); // line 33
            wait(delay(1)); say("and after its wait: %d", __LINE__); // line 34
        }
    }
    choose {
        when(wait(delay(later))) { say("first branch: %d", __LINE__); } // line 38
        when(wait(delay(__LINE__ - 38))) { // line 39, so a delay of one second
            say("second branch: %d, %d", __LINE__, later); // line 40
        }
    }
    auto lambda = [] {
        return __LINE__; // line 44
    };
    say("in a lambda: %d", lambda());
    return Void();
}

int main() {
    SimLoop sim;
    sim.run(lines(Void()));
    const char* file = std::strrchr(__FILE__, '/');
    say("main: %d of %s", __LINE__, file ? file + 1 : __FILE__); // line 54
}
