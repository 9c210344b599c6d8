// Several catch clauses: C++ types see what called code throws, `Error` clauses see Errors and all that is left.
#include "flow/sim.h"
#include "trace.h"
#include <stdexcept>
#include <string>

#include "flow/actorcompiler.h"

class Failure : public std::runtime_error {
public:
    explicit Failure(const char* what) : std::runtime_error(what), token_(std::string("failure ") + what) {}

private:
    Token token_;
};

struct Plain {
    Token token;
    int number;
};

static const char text[] = "text";

static void fails(int how) {
    switch (how) {
    case 0:
        throw io_error();
    case 1:
        throw Failure("one");
    case 2:
        throw std::runtime_error("two");
    case 3:
        throw 3;
    case 4:
        throw text;
    case 5:
        throw Plain{Token("plain"), 5};
    }
}

static bool isFailure(std::runtime_error const& e) {
    return dynamic_cast<Failure const*>(&e) != nullptr;
}

ACTOR Future<int> firstMatch(int how) {
    try {
        fails(how);
        if (how == 6)
            throw timed_out();
        wait(Future<Void>(end_of_stream()));
    } catch (Failure& e) {
        say("failure %s", e.what());
        return 1;
    } catch (const std::exception& e) {
        say("exception %s", e.what());
        return 2;
    } catch (int number) {
        return number;
    } catch (char const* what) {
        say("pointer %s", what);
        return 4;
    } catch (Error& e) {
        say("error %s", e.name());
        return 5;
    }
    return 0;
}

// All kinds of clauses for an Error; what an Error clause does not take, `...` does.
ACTOR Future<Void> errorClauses(int how) {
    try {
        fails(how);
        wait(delay(1));
        throw timed_out();
    } catch (const Error& e) {
        say("const Error& %s", e.name());
    } catch (...) {
        say("anything");
    }
    try {
        fails(how);
        wait(delay(1));
        throw timed_out();
    } catch (Error e) {
        say("Error %s", e.name());
        e = operation_failed();
        say("now %s", e.name());
    }
    try {
        fails(how);
        throw timed_out();
    } catch (flow::Error const& e) {
        say("Error const& %s", e.name());
    }
    try {
        fails(how);
        throw timed_out();
    } catch (Error const) {
        say("Error const");
    }
    try {
        fails(how);
        throw timed_out();
    } catch (std::exception&) {
        say("exception");
    } catch (...) {
        say("all");
    }
    return Void();
}

// Handlers wait; the wait destroys the exception like any local.
ACTOR Future<Void> waits(int how) {
    Token a("a");
    try {
        Token b("b");
        fails(how);
        wait(delay(1));
        fails(how - 10);
        say("nothing thrown");
    } catch (Failure const& e) {
        say("failure %s", e.what());
        wait(delay(1));
        say("waited");
    } catch (Plain plain) {
        Token c("c");
        say("plain %d", plain.number);
        if (how > 10)
            wait(delay(1));
        say("end of handler");
    } catch (Error& e) {
        Token d("d");
        say("error %s", e.name());
        wait(delay(1));
        say("waited for %s", how > 10 ? "ten" : "none");
    }
    say("after");
    return Void();
}

// By value: a pointer is converted, and `throw;` passes on what was thrown, not the copy.
ACTOR Future<int> byValue(int how) {
    try {
        try {
            fails(how);
        } catch (void const* what) {
            say("pointer to %s", static_cast<char const*>(what));
            wait(delay(1));
            return 1;
        } catch (int number) {
            say("number %d", ++number);
            wait(delay(1));
            throw;
        } catch (std::runtime_error e) {
            say("%s is %sa failure", e.what(), isFailure(e) ? "" : "not ");
            wait(delay(1));
            throw;
        }
    } catch (int& number) {
        return number;
    } catch (Failure& e) {
        say("failure %s", e.what());
        return 2;
    }
    return 0;
}

// No clause for Errors: they propagate, wherever they come from.
ACTOR Future<Void> othersOnly(int how) {
    try {
        try {
            Token a("a");
            fails(how);
            if (how == 7)
                wait(Future<Void>(end_of_stream()));
            if (how == 8)
                throw timed_out();
            say("nothing thrown");
        } catch (std::exception& e) {
            say("inner %s", e.what());
            if (how == 1)
                throw;
            wait(delay(1));
            fails(how);
        }
    } catch (Failure& e) {
        say("outer failure %s", e.what());
        wait(delay(1));
        throw operation_failed();
    } catch (Error& e) {
        say("outer %s", e.name());
        if (how == 3)
            throw;
    }
    return Void();
}

// `throw;` after a wait, in loops, in a choose, and in a try of its own.
ACTOR Future<Void> rethrows(int how) {
    state int i = 0;
    try {
        try {
            fails(how);
            throw timed_out();
        } catch (std::runtime_error& e) {
            say("inner exception %s", e.what());
            wait(delay(1));
            try {
                wait(Future<Void>(end_of_stream()));
            } catch (Error& other) {
                say("other %s", other.name());
                if (how == 2)
                    throw;
            }
            throw;
        } catch (Error& e) {
            say("inner %s", e.name());
            loop choose {
                when(wait(delay(1))) {
                    if (++i == 3)
                        throw;
                }
                when(wait(delay(2))) { say("never"); }
            }
        }
    } catch (Failure& e) {
        say("outer failure %s", e.what());
        do {
            wait(delay(1));
            if (++i == 2) {
                try {
                    throw;
                } catch (std::exception& same) {
                    say("same %s", same.what());
                }
            }
        } while (i < 2);
        throw;
    } catch (Error& e) {
        say("outer %s after %d", e.name(), i);
        wait(delay(1));
        throw;
    }
}

// continue and break leave handlers; a later pass is not in an earlier pass's try.
ACTOR Future<int> inLoops() {
    state int i = 0;
    state int caught = 0;
    try {
        loop {
            Token pass("pass " + std::to_string(i));
            i++;
            if (i == 5)
                throw std::runtime_error("outside").what() ? operation_failed() : timed_out();
            try {
                fails(i);
                wait(delay(1));
                say("no error in pass %d", i);
            } catch (std::exception& e) {
                caught++;
                say("pass %d: %s", i, e.what());
                if (i == 1)
                    continue;
                wait(delay(1));
                continue;
            } catch (...) {  // actorc: allow A0603
                caught++;
                say("pass %d", i);
                if (i == 4)
                    continue;
            }
            say("end of pass");
        }
    } catch (Error& e) {
        say("%s", e.name());
    }
    return caught;
}

ACTOR Future<Void> cancelled(int path) {
    Token a("a");
    try {
        Token b("b");
        wait(delay(100));
    } catch (std::exception& e) {
        say("never");
    } catch (Error const& e) {
        say("got %s", e.name());
        if (path)
            throw;
        wait(delay(100));
    }
    return Void();
}

ACTOR void detached() {
    try {
        fails(1);
    } catch (std::exception& e) {
        say("detached %s", e.what());
        wait(delay(1));
        throw;
    }
}

static void throwsInt() {
    throw 7;
}

ACTOR Future<int> failsLater(int how) {
    wait(delay(1));
    fails(how);
    return how;
}
ACTOR Future<int> passesOn(Future<int> from) {
    int value = wait(from);
    return value;
}

// A wait throws the exception that has ended the other actor, if a clause names its type.
ACTOR Future<int> fromWaits(int how) {
    state int value = 0;
    try {
        try {
            if (how >= 10)
                wait(delay(2) && success(passesOn(failsLater(how - 10))));
            loop choose {
                when(int got = wait(passesOn(failsLater(how)))) {
                    value = got;
                    break;
                }
                when(wait(delay(5))) { say("never"); }
            }
        } catch (Failure& e) {
            say("failure %s", e.what());
            wait(delay(1));
            if (how == 1)
                throw;
        } catch (int number) {
            say("number %d", number);
        }
        say("after the inner try");
        try {
            value = wait(failsLater(how % 10));
        } catch (Error& e) {
            say("inner %s", e.name());
            if (how != 2)
                throw;
        }
        value = wait(failsLater(how % 10));
    } catch (std::exception& e) {
        say("exception %s", e.what());
        return 1;
    } catch (Error& e) {
        say("error %s", e.name());
        return 2;
    }
    return value;
}

// Only clauses for other types: Errors and cancels pass them by.
ACTOR Future<int> onlyTyped(int how) {
    Token a("a");
    try {
        int value = wait(failsLater(how));
        return value;
    } catch (std::exception& e) {
        say("exception %s", e.what());
        wait(delay(1));
        throw;
    }
}

// What `...` or Error took is an Error when it is passed on.
ACTOR Future<int> becomesError() {
    try {
        try {
            wait(delay(1));
            throwsInt();
        } catch (Error& e) {
            throw;
        }
    } catch (int n) {
        say("never");
    } catch (Error& e) {
        say("error %s", e.name());
    }
    try {
        try {
            throwsInt();
        } catch (...) {
            throw;
        }
    } catch (int n) {
        say("never");
    } catch (Error& e) {
        say("error %s", e.name());
    }
    return 1;
}

int main() {
    SimLoop sim;
    setDroppedErrorHandler([](const char*, Error error) { say("dropped %s", error.name()); });
    for (int how = 0; how < 8; ++how) {
        say("-- first match %d", how);
        sim.run(watch("first match", firstMatch(how)));
    }
    for (int how : {0, 1, 3, 9}) {
        say("-- error clauses %d", how);
        sim.run(watch("error clauses", errorClauses(how)));
    }
    for (int how : {0, 1, 5, 9, 10, 11, 15}) {
        say("-- waits %d", how);
        sim.run(watch("waits", waits(how)));
    }
    for (int how : {1, 3, 4}) {
        say("-- by value %d", how);
        sim.run(watch("by value", byValue(how)));
    }
    for (int how : {0, 1, 2, 3, 7, 8, 9}) {
        say("-- others only %d", how);
        sim.run(watch("others only", othersOnly(how)));
    }
    for (int how : {0, 1, 2, 9}) {
        say("-- rethrows %d", how);
        sim.run(watch("rethrows", rethrows(how)));
    }
    for (int how : {0, 1, 2, 3, 9, 10, 11, 12}) {
        say("-- from waits %d", how);
        sim.run(watch("from waits", fromWaits(how)));
    }
    for (int how : {0, 1, 2, 9}) {
        say("-- only typed %d", how);
        sim.run(watch("only typed", onlyTyped(how)));
    }
    try {
        sim.run(onlyTyped(1));
    } catch (Failure& e) {
        say("run() threw failure %s", e.what());
    }
    {
        Future<int> cancelled = onlyTyped(1);
        cancelled.cancel();
        sim.run(watch("only typed", cancelled));
    }
    say("-- becomes an Error");
    sim.run(watch("becomes an Error", becomesError()));
    say("-- in loops");
    sim.run(watch("in loops", inLoops()));
    for (int path = 0; path < 2; ++path) {
        say("-- cancel %d", path);
        Future<Void> f = cancelled(path);
        f.cancel();
        sim.run(watch("cancelled", f));
    }
    say("-- detached");
    detached();
    sim.run(delay(2));
}
