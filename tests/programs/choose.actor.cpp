// choose: laziness, the order of ready branches, errors, and that losers are released before the winner's body.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

ACTOR Future<int> child(const char* name, double seconds) {
    state Token s(name);
    wait(delay(seconds));
    return int(seconds * 10);
}

static Future<int> operand(const char* name, Future<int> future) {
    say("evaluate %s", name);
    return future;
}

ACTOR Future<Void> two(Future<int> a, Future<int> b) {
    Token local("local");
    choose {
        when(int x = wait(operand("a", a))) { say("a gave %d", x); }
        when(int x = wait(operand("b", b))) {
            say("b gave %d", x);
        }
    }
    say("after");
    return Void();
}

ACTOR Future<int> race() {
    choose {
        when(int x = wait(child("slow", 2))) { return x; }
        when(int x = wait(child("fast", 1))) {
            say("fast won at %g", now());
            return x;
        }
        when(wait(delay(3))) { say("timeout"); }
    }
    return 0;
}

// Bodies that wait, and a choose within a choose.
ACTOR Future<Void> nested() {
    state int result = 0;
    choose {
        when(state int got = wait(child("one", 1))) {
            wait(delay(1));
            result = got;
            choose {
                when(wait(delay(5))) { say("not this one"); }
                when(int more = wait(child("two", 2))) { result += more; }
            }
            say("inner is done at %g", now());
        }
        when(wait(delay(100))) {}
    }
    say("result %d", result);
    return Void();
}

ACTOR Future<int> inLoop(FutureStream<int> numbers, Future<Void> stop) {
    state int sum = 0;
    state int passes = 0;
    loop {
        passes++;
        choose {
            when(int n = waitNext(numbers)) {
                if (n < 0)
                    continue;
                if (n == 0)
                    break;
                sum += n;
            }
            when(wait(stop)) {
                say("stopped");
                return sum;
            }
        }
        say("pass %d, sum %d", passes, sum);
    }
    say("broke off in pass %d", passes);
    return sum;
}

static Future<int> operand(Token const& token, Future<int> future) {
    say("evaluate with %s", token.name());
    return future;
}

// The temporaries of an operand are destroyed before the next one is evaluated.
ACTOR Future<Void> temporaries(Future<int> a, Future<int> b) {
    choose {
        when(int x = wait(operand(Token("first"), a))) { say("a %d", x); }
        when(int x = wait(operand(Token("second"), b))) { say("b %d", x); }
        when(wait(delay(1))) { say("late"); }
    }
    return Void();
}

ACTOR Future<Void> catches(Future<int> a, Future<int> b) {
    try {
        choose {
            when(int x = wait(a)) { say("a %d", x); throw io_error(); }
            when(int x = wait(b)) { say("b %d", x); }
        }
        say("no error");
    } catch (Error& e) {
        say("caught %s", e.name());
    }
    return Void();
}

int main() {
    SimLoop sim;
    say("-- lazy");
    sim.run(two(1, 2));
    sim.run(two(Never(), 2));

    say("-- later");
    Promise<int> p, q;
    Future<Void> f = two(p.getFuture(), q.getFuture());
    say("waiting");
    q.send(5);
    sim.run(f);

    say("-- race");
    say("%d", sim.run(race()));
    say("at %g", now());

    say("-- nested");
    sim.run(nested());

    say("-- loop");
    PromiseStream<int> s;
    Promise<Void> stop;
    Future<int> sum = inLoop(s.getFuture(), stop.getFuture());
    for (int n : {3, -1, 4, 0, 9})
        s.send(n);
    say("%d", sum.get());
    sum = inLoop(s.getFuture(), stop.getFuture());
    s.send(1);
    stop.send(Void());
    say("%d", sum.get());

    say("-- temporaries");
    sim.run(temporaries(Never(), 2));
    sim.run(temporaries(Never(), Never()));

    say("-- errors");
    sim.run(catches(timed_out(), 1));
    sim.run(catches(1, timed_out()));
    sim.run(catches(Never(), timed_out()));
    sim.run(catches(Never(), 1));
    Promise<int> broken;
    f = catches(broken.getFuture(), Never());
    broken = Promise<int>();
}
