// Operations in place: a program's own source, in waits and chooses. Losers and the cancelled have taken nothing.
#include "flow/sim.h"
#include "trace.h"

#include "flow/wait/source.h"

#include <deque>

#include "flow/actorcompiler.h"

class Mailbox {
public:
    struct Take {
        using Result = int;
        Mailbox* mailbox;
        bool isReady() const { return !mailbox->items.empty() || mailbox->error.isValid(); }
        void park(WaiterNode& waiter) { mailbox->source.park(waiter, *this); }
        int take() const {
            if (mailbox->items.empty())
                throw mailbox->error;
            int item = mailbox->items.front();
            mailbox->items.pop_front();
            return item;
        }
    };
    /// Waits until it is empty.
    struct Drained {
        using Result = Void;
        Mailbox* mailbox;
        bool isReady() const { return mailbox->items.empty(); }
        void park(WaiterNode& waiter) { mailbox->drained.park(waiter, *this); }
        Void take() const { return Void(); }
    };

    Take take() { return {this}; }
    Drained whenDrained() { return {this}; }
    void put(int item) {
        items.push_back(item);
        source.wakeInTurn();
    }

    std::deque<int> items;
    Error error;
    Source<Take> source;
    Source<Drained> drained;
};

ACTOR Future<int> sum(Mailbox* box, int count) {
    state int total = 0;
    state int i = 0;
    for (; i < count; ++i) {
        int item = wait(box->take());
        total += item;
    }
    return total;
}

ACTOR Future<Void> report(const char* name, Mailbox* box) {
    try {
        loop {
            int item = wait(box->take());
            say("%s took %d", name, item);
        }
    } catch (Error& e) {
        say("%s ends: %s", name, e.name());
        throw;
    }
}

ACTOR Future<Void> either(Mailbox* a, Mailbox* b, Future<Void> stop) {
    loop choose {
        when(int item = wait(a->take())) { say("from a %d", item); }
        when(int item = wait(b->take())) { say("from b %d", item); }
        when(wait(stop)) {
            say("stopped");
            break;
        }
    }
    wait(a->whenDrained());
    say("a is drained");
    return Void();
}

// After a cancel every wait fails: it takes nothing, though there is something to take.
ACTOR Future<Void> waitsInHandler(Mailbox* box) {
    try {
        wait(Never());
    } catch (Error& e) {
        int item = wait(box->take());
        say("took %d", item);
    }
    return Void();
}
ACTOR Future<Void> choosesInHandler(Mailbox* box) {
    try {
        wait(Never());
    } catch (Error& e) {
        choose {
            when(int item = wait(box->take())) { say("took %d", item); }
            when(wait(delay(1))) {}
        }
    }
    return Void();
}

// The loser's destructor pops the stream that wins.
struct Popper {
    FutureStream<int> stream;
    ~Popper() {
        if (stream.isReady())
            say("the loser popped %d", stream.pop());
    }
};
ACTOR Future<Void> pops(FutureStream<int> stream) {
    state Popper popper{stream};
    wait(Never());
    return Void();
}
ACTOR Future<int> streamWins(FutureStream<int> stream) {
    choose {
        when(int x = waitNext(stream)) { return x; }
        when(wait(pops(stream))) { return -1; }
    }
}

int main() {
    SimLoop sim;
    Mailbox a, b;

    say("-- waits");
    a.put(1);
    Future<int> total = sum(&a, 3);
    say("ready %d", total.isReady());
    a.put(10);
    a.put(100);
    say("total %d", sim.run(total));

    say("-- cancelled");
    Future<Void> first = report("first", &a);
    Future<Void> second = report("second", &a);
    a.put(1);
    first.cancel();
    a.put(2);
    sim.run();
    say("left %d", int(a.items.size()));
    a.error = timed_out();
    a.source.wakeInTurn();
    sim.run();
    say("second failed: %d", second.isError());
    a.error = Error();

    say("-- choose");
    Promise<Void> stop;
    Future<Void> done = either(&a, &b, stop.getFuture());
    b.put(5);
    a.put(6);
    sim.run();
    a.put(7);
    stop.send(Void());
    say("left in a %d", int(a.items.size()));
    sim.run();
    say("done %d", done.isReady());
    say("took %d", sim.run(sum(&a, 1)));
    a.drained.wakeInTurn();
    sim.run();
    say("done %d", done.isReady());

    say("-- ready in a choose");
    a.put(1);
    b.put(2);
    Promise<Void> later;
    done = either(&a, &b, later.getFuture());
    later.send(Void());
    sim.run();
    say("done %d, a %d, b %d", done.isReady(), int(a.items.size()), int(b.items.size()));

    say("-- cancelled before");
    b.put(9);
    Future<Void> waiter = waitsInHandler(&b);
    waiter.cancel();
    Future<Void> chooser = choosesInHandler(&b);
    chooser.cancel();
    say("b %d, %s, %s", int(b.items.size()), waiter.getError().name(), chooser.getError().name());

    say("-- a stream");
    PromiseStream<int> numbers;
    Future<int> won = streamWins(numbers.getFuture());
    numbers.send(1);
    say("won %d", won.get());
    numbers.send(1);
    numbers.send(2);
    say("won %d", streamWins(numbers.getFuture()).get());
}
