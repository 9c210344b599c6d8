// Several states in one declaration.
#include "flow/sim.h"
#include "trace.h"

#include "flow/actorcompiler.h"

ACTOR Future<int> first() {
    state Token a("a"), b("b");
    state int i, count = 3, numbers[2];
    state std::string text, more{"more"};
    wait(delay(1));
    say("%d %d %d %zu %s", i, count, numbers[1], text.size(), more.c_str());
    ++i;
    return i + count;
}

ACTOR Future<int> later() {
    wait(delay(1));
    state Token a("later a"), b("later b");
    state int sum, factor = 2;
    for (state int pass = 0; pass < 2; ++pass) {
        state int inLoop, other = pass;
        inLoop += other + 1;
        wait(delay(1));
        sum += factor * inLoop;
    }
    return sum;
}

int main() {
    SimLoop sim;
    say("%d", sim.run(first()));
    say("%d", sim.run(later()));
    say("cancelled");
    Future<int> cancelled = first();
    cancelled.cancel();
}
