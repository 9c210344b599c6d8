// The end of an actor: its locals, its states in reverse order, its parameters in reverse order, then its waiters.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

static void throwString() {
    throw std::string("not an Error");
}

ACTOR Future<int> ends(Token p1, Token p2, Future<int> f, const char* how) {
    state Token s1("s1");
    state Token s2("s2");
    int value = wait(f);
    state Token s3("s3");
    {
        state Token s4 = Token("s4");
        Token local1("local1");
        Token local2("local2");
        say("ends by %s with %d", how, value);
        if (how[0] == 'r')
            return value;
        if (how[0] == 't')
            throw timed_out();
        if (how[0] == 'c')
            throwString();
        if (how[0] == 'n')
            return Never();
    }
    return -1;
}

// States that were never reached exist from the start, and are destroyed without a trace.
ACTOR Future<int> early(Token p1, bool stop) {
    state Token s1("s1");
    if (stop)
        return 1;
    state Token s2("s2");
    wait(delay(1));
    return 2;
}

int main() {
    SimLoop sim;
    for (const char* how : {"return", "throw", "cxx exception", "never"}) {
        Promise<int> p;
        Future<int> f = ends(Token("p1"), Token("p2"), p.getFuture(), how);
        Future<Void> w = watch("watcher", f);
        p.send(5);
        say("sent; ready: %d", f.isReady());
    }
    say("early");
    Future<int> f = early(Token("p1"), true);
    say("returned %d", f.get());

    say("cancel");
    {
        Promise<int> p;
        Future<int> g = ends(Token("p1"), Token("p2"), p.getFuture(), "return");
        Future<Void> w = watch("watcher", g);
        g.cancel();
        say("cancelled");
    }
    say("drop");
    {
        Promise<int> p;
        Future<int> g = ends(Token("p1"), Token("p2"), p.getFuture(), "return");
        g = Future<int>();
        say("dropped");
    }
}
