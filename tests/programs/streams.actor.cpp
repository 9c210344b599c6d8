// Streams: order, the end, broken promises, and that a losing branch takes nothing.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> sum(FutureStream<int> numbers) {
    state int total = 0;
    try {
        loop {
            int n = waitNext(numbers);
            say("got %d", n);
            total += n;
        }
    } catch (Error& e) {
        say("ended by %s", e.name());
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    return total;
}

// Elements are handed over, not copied: they need not be copyable.
ACTOR Future<Void> movesElements(FutureStream<std::unique_ptr<int>> stream) {
    state std::unique_ptr<int> first = waitNext(stream);
    std::unique_ptr<int> second = waitNext(stream);
    say("%d and %d", *first, *second);
    return Void();
}

ACTOR Future<Void> ticks(FutureStream<Void> stream, int count) {
    while (count-- > 0) {
        waitNext(stream);
        say("tick");
    }
    return Void();
}

// The first ready branch in the order of the text wins; the other stream keeps its element for the next pass.
ACTOR Future<Void> twoStreams(FutureStream<int> a, FutureStream<int> b, int count) {
    for (state int i = 0; i < count; i++) {
        choose {
            when(int x = waitNext(a)) { say("a: %d", x); }
            when(int x = waitNext(b)) { say("b: %d", x); }
        }
    }
    return Void();
}

// The stream loses to the timer, and is waited for again: nothing is lost.
ACTOR Future<Void> withTimer(FutureStream<int> numbers) {
    state int got = 0;
    while (got < 2) {
        choose {
            when(int x = waitNext(numbers)) {
                say("%d at %g", x, now());
                got++;
            }
            when(wait(delay(1))) { say("nothing until %g", now()); }
        }
    }
    return Void();
}

ACTOR Future<Void> feed(PromiseStream<int> numbers) {
    wait(delay(1.5));
    numbers.send(15);
    wait(delay(2));
    numbers.send(35);
    return Void();
}

int main() {
    SimLoop sim;
    PromiseStream<int> s;
    s.send(1);
    s.send(2);
    Future<int> f = sum(s.getFuture());
    say("-- queued are read");
    s.send(3);
    s.sendError(end_of_stream());
    say("sum %d", f.get());

    say("-- the end comes after what is queued");
    PromiseStream<int> t;
    t.send(5);
    t.sendError(end_of_stream());
    t.send(6);
    say("sum %d", sim.run(sum(t.getFuture())));

    say("-- broken");
    f = sum([] {
        PromiseStream<int> lost;
        lost.send(8);
        return lost.getFuture();
    }());
    say("%s", f.getError().name());

    say("-- move only");
    PromiseStream<std::unique_ptr<int>> m;
    Future<Void> v = movesElements(m.getFuture());
    m.send(std::make_unique<int>(1));
    m.send(std::make_unique<int>(2));

    say("-- Void");
    PromiseStream<Void> ticking;
    ticking.send(Void());
    v = ticks(ticking.getFuture(), 2);
    say("one was queued");
    ticking.send(Void());

    say("-- two streams");
    PromiseStream<int> a, b;
    b.send(10);
    b.send(20);
    a.send(1);
    v = twoStreams(a.getFuture(), b.getFuture(), 5);
    a.send(2);
    b.send(30);
    b.send(40);
    say("done %d; left over %d", v.isReady(), b.getFuture().pop());

    say("-- with a timer");
    PromiseStream<int> n;
    v = withTimer(n.getFuture());
    Future<Void> feeding = feed(n);
    sim.run(v);
}
