// Lambdas that are actors: each call copies the captures, so that the lambda may be destroyed first.
#include "flow/sim.h"
#include "trace.h"
#include <functional>

#include "flow/actorcompiler.h"

ACTOR Future<int> inActor(int base) {
    state int factor = 10;
    state Token token("captured");
    int local = 3;
    auto scaled = ACTOR [base, factor, local, token](int n, int extra = 1) -> Future<int> {
        wait(delay(1));
        say("%s in use", token.name());
        return base * (factor + n) + local + extra;
    };
    state Future<int> first = scaled(5);
    state Future<int> second = scaled(6, 2);
    token = Token();
    factor = 0;
    state int a = wait(first);
    first = Future<int>();
    say("first %d", a);
    state int b = wait(second);
    second = Future<int>();
    say("second %d", b);
    state std::function<Future<Void>(int)> countdown;
    countdown = ACTOR [self = &countdown](int n) -> Future<Void> {
        if (n == 0)
            return Void();
        say("down to %d", n);
        wait(delay(1));
        wait((*self)(n - 1));
        return Void();
    };
    wait(countdown(2));
    return a + b;
}

class Counter {
public:
    Future<int> add(int n) {
        auto adds = ACTOR [self = this, n]() -> Future<int> {
            wait(delay(n));
            self->total_ += n;
            return self->total_;
        };
        return adds();
    }

private:
    int total_ = 0;
};

template <class T>
Future<T> inTemplate(Future<T> f, T more) {
    return ACTOR [f, more = more + more]() -> Future<T> {
        T value = wait(f);
        return value + more;
    }();
}

// Several in one statement, one in another, and one that never ends by itself.
ACTOR Future<Void> nested(PromiseStream<int> out) {
    state std::vector<Future<Void>> all;
    all.push_back(ACTOR [out]() -> Future<Void> {
        wait(delay(2));
        out.send(1);
        auto inner = ACTOR [out](int n) -> Future<Void> {
            wait(delay(n));
            out.send(n);
            return Void();
        };
        wait(inner(3));
        return Void();
    }()); all.push_back(ACTOR [out]() -> Future<Void> { wait(delay(1)); out.send(2); return Void(); }());
    Future<Void> dropped = ACTOR [token = Token("dropped")]() -> Future<Void> {
        try {
            wait(Never());
        } catch (Error& e) {
            say("line %d: %s", __LINE__, e.name());
            throw;
        }
        return Void();
    }();
    wait(waitForAll(all));
    say("line %d", __LINE__);
    return Void();
}

int main() {
    SimLoop sim;
    say("%d", sim.run(inActor(2)));
    say("at %g", now());
    say("--");
    Counter counter;
    Future<int> three = counter.add(3);
    Future<int> two = counter.add(2);
    say("%d", sim.run(three));
    say("%d", two.get());
    say("%d", sim.run(inTemplate<int>(5, 6)));
    say("%s", sim.run(inTemplate<std::string>(std::string("a"), "b")).c_str());
    say("--");
    PromiseStream<int> out;
    FutureStream<int> results = out.getFuture();
    sim.run(nested(out));
    while (results.isReady())
        say("%d", results.pop());
    say("--");
    int changed = 0;
    auto logs = ACTOR [&changed](std::vector<int> more) -> void {
        for (int n : more) {
            wait(delay(n));
            changed += 1;
        }
        say("changed %d", changed);
    };
    logs({1, 2});
    logs({});
    auto forever = ACTOR UNCANCELLABLE [] (double seconds) -> Future<int> {
        wait(delay(seconds));
        say("not cancelled");
        return 1;
    };
    (void)forever(1);
    sim.run();
}
