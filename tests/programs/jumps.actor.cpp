// break, continue and return through try and choose; what older compilers of the language got wrong.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static Future<Void> ready() {
    return Void();
}
static void fails(bool does) {
    if (does)
        throw io_error();
}

// A million passes with ready waits and `continue` use no stack.
ACTOR Future<int> continues() {
    state int i = 0;
    loop {
        if (++i == 1000000)
            break;
        wait(ready());
        if (i % 2)
            continue;
        try {
            if (i % 3)
                continue;
            wait(ready());
        } catch (Error&) {
            say("not reached");
        }
    }
    return i;
}

// After a `continue` inside a try, the top of the next pass stands outside that try.
ACTOR Future<Void> outsideAgain(bool suspends) {
    state int i = 0;
    try {
        loop {
            fails(i == 1);
            try {
                i++;
                wait(suspends ? Future<Void>(delay(1)) : ready());
                continue;
            } catch (Error& e) {
                say("wrong handler: %s", e.name());
                return Void();
            }
        }
    } catch (Error& e) {
        say("right handler: %s", e.name());
    }
    return Void();
}

// `continue` in an inner loop does not repeat anything of the outer one.
ACTOR Future<int> after(int n) {
    state int outer = 0;
    state int inner = 0;
    state int after = 0;
    for (; outer < 3; outer++) {
        inner = 0;
        loop {
            if (inner++ >= n)
                break;
            wait(ready());
            continue;
        }
        after++;
        wait(ready());
    }
    return after;
}

ACTOR Future<Void> scopes() {
    state int i = 0;
    for (; i < 5; i++) {
        Token pass("pass " + std::to_string(i));
        try {
            Token inner("inner");
            if (i == 0)
                continue;
            choose {
                when(wait(ready())) {
                    Token won("won");
                    if (i == 1)
                        continue;
                    if (i == 3)
                        break;
                    wait(delay(1));
                }
                when(wait(Never())) {}
            }
            say("end of try in pass %d", i);
            if (i == 2)
                continue;
        } catch (Error&) {
            say("not reached");
        }
    }
    say("left in pass %d", i);
    try {
        choose {
            when(wait(delay(1))) {
                try {
                    Token t("t");
                    return Void();
                } catch (Error&) {
                    say("not reached");
                }
            }
            when(wait(Never())) {}
        }
    } catch (...) {  // actorc: allow A0604
        say("not reached");
    }
    say("not reached");
    return Void();
}

int main() {
    SimLoop sim;
    say("%d passes", sim.run(continues()));
    for (bool suspends : {false, true})
        sim.run(outsideAgain(suspends));
    for (int n : {0, 1, 4})
        say("after: %d", sim.run(after(n)));
    sim.run(scopes());
}
