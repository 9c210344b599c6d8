// What a wait gives: a reference that lives up to the next wait, a copy for a state, or an element that is handed over.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

struct Counted {
    explicit Counted(int v) : v(v) {}
    Counted() = default;
    Counted(Counted const& other) : v(other.v) { say("copied %d", v); }
    Counted(Counted&& other) noexcept : v(other.v) {
        other.v = -1;
        say("moved %d", v);
    }
    Counted& operator=(Counted const& other) {
        v = other.v;
        say("copy-assigned %d", v);
        return *this;
    }
    Counted& operator=(Counted&& other) noexcept {
        v = other.v;
        other.v = -1;
        say("move-assigned %d", v);
        return *this;
    }
    int v = 0;
};

struct ThrowsAtEnd {
    ~ThrowsAtEnd() noexcept(false) { throw timed_out(); }
};

ACTOR Future<int> reads(Future<Counted> f) {
    Counted c = wait(f);
    say("read %d", c.v);
    return c.v;
}

ACTOR Future<Token> makes() {
    wait(delay(1));
    return Token("value");
}

// The value is kept alive although the actor itself drops the last future of its producer.
ACTOR Future<int> keepsAlive() {
    state Future<Token> f = makes();
    Token const& t = wait(f);
    f = Future<Token>();
    say("still there: %s", t.name());
    wait(delay(1));
    say("ends");
    return 1;
}

ACTOR Future<Void> collects(Future<int> a, FutureStream<std::string> names) {
    state int number = wait(a);
    state std::string first = waitNext(names);
    std::string second = waitNext(names);
    second += "!";
    say("%d %s %s", number, first.c_str(), second.c_str());
    state std::string kept = std::move(second);
    wait(delay(1));
    say("%s", kept.c_str());
    return Void();
}

ACTOR Future<Void> chooses(Future<std::string> a, FutureStream<std::string> b) {
    state std::string kept;
    state int passes = 0;
    for (; passes < 2; passes++) {
        choose {
            when(state std::string x = wait(a)) {
                a = Never();
                wait(delay(1));
                kept += x;
            }
            when(std::string y = waitNext(b)) {
                y += "?";
                kept += y;
            }
        }
    }
    say("%s", kept.c_str());
    return Void();
}

// What each form of a reader costs, in copies and moves, when the value is sent to it while it waits.
ACTOR Future<Void> readsEach(FutureStream<Counted> numbers) {
    Counted own = waitNext(numbers);
    own.v += 100; // it belongs to the reader
    say("own %d", own.v);
    Counted const& constant = waitNext(numbers);
    say("constant %d", constant.v);
    state Counted kept = waitNext(numbers);
    say("kept %d", kept.v);
    choose {
        when(Counted chosen = waitNext(numbers)) { say("chosen %d", chosen.v); }
        when(wait(Never())) {}
    }
    return Void();
}

ACTOR Future<Counted> counted(int v) {
    wait(delay(1));
    return Counted(v);
}

// A local that is returned by its name is moved, whatever declares it; what is only referred to is copied.
ACTOR Future<Counted> returns(int how) {
    wait(delay(1));
    if (how == 1) {
        Counted c = wait(counted(how));
        return c;
    }
    if (how == 2) {
        auto c = wait(counted(how));
        if (c.v > 0)
            return c;
    }
    if (how == 3) {
        choose {
            when(Counted c = wait(counted(how))) { return c; }
            when(wait(Never())) {}
        }
    }
    if (how == 4) {
        Counted const& c = wait(counted(how));
        return c;
    }
    if (how == 5) {
        auto& c = wait(counted(how));
        return c;
    }
    if (how == 6) {
        Counted c = Counted(how);
        return c;
    }
    if (Counted c = Counted(how); how == 7)
        return c;
    for (Counted c = Counted(how); c.v == 8; ++c.v)
        return c;
    std::vector<Counted> all(1);
    for (Counted& c : all) {
        c.v = how;
        if (how == 9)
            return c;
    }
    return Never();
}

// The same where only an instantiation shows whether there is a result.
ACTOR template <class T>
Future<T> passes(Future<T> f, bool isRef) {
    if (isRef) {
        T const& value = wait(f);
        return value;
    }
    T value = wait(f);
    return value;
}

// The first value is there already when what follows it throws.
ACTOR Future<std::string> replaces(Future<Void> f) {
    wait(f);
    try {
        ThrowsAtEnd end;
        return std::string("a value too long to be kept in place");
    } catch (Error& e) {
        say("caught %s", e.name());
        if (e.code() == error_code_actor_cancelled)
            throw;
    }
    return std::string("another value too long to be kept in place");
}

int main() {
    SimLoop sim;
    Promise<Counted> p;
    Future<int> r = reads(p.getFuture());
    p.send(Counted(3));
    say("%d", r.get());
    say("--");
    sim.run(keepsAlive());
    say("--");
    Promise<int> n;
    PromiseStream<std::string> s;
    Future<Void> c = collects(n.getFuture(), s.getFuture());
    n.send(1);
    s.send("one");
    s.send("two");
    sim.run(c);
    say("--");
    PromiseStream<std::string> t;
    t.send("stream");
    sim.run(chooses(std::string("future+"), t.getFuture()));
    say("--");
    say("%s", replaces(Void()).get().c_str());
    say("-- sent to a reader that waits, as an lvalue");
    PromiseStream<Counted> u;
    c = readsEach(u.getFuture());
    Counted number(1);
    for (int i = 1; i <= 4; ++i) {
        number.v = i;
        u.send(number);
        say("sent %d", number.v);
    }
    say("-- and as an rvalue");
    c = readsEach(u.getFuture());
    for (int i = 1; i <= 4; ++i)
        u.send(Counted(i));
    for (int how = 1; how <= 9; ++how) {
        say("-- returned %d", how);
        sim.run(returns(how));
    }
    say("-- of a future that the actor has, too");
    sim.run(passes(counted(1), false));
    sim.run(passes(counted(2), true));
}
