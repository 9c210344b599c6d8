// switch and do with waits in them: labels lead where C++ leads them, and the next wait destroys locals.
#include "flow/sim.h"
#include "trace.h"
#include <stdexcept>

#include "flow/actorcompiler.h"

enum class Kind { One, Two, Three };

static void fails() {
    throw io_error();
}

ACTOR Future<int> sections(int path) {
    Token a("a");
    switch (path) {
    case 0:
        say("zero");
        wait(delay(1));
        say("zero waited");
        break;
    case 1: {
        Token b("b");
        wait(delay(1));
        Token c("c");
        say("one waited");
        return 1;
    }
    case 2:
    case 3:
        say("two or three");
        if (path == 3)
            wait(delay(1));
        say("falls");
        [[fallthrough]];
    case 4: {
        int n = path;
        say("four or %d", n);
        break;
    }
    case 5:
        throw timed_out();
    case 6:
        fails();
        break;
    default:
        say("default");
        wait(delay(1));
        say("default waited");
    }
    say("after");
    return path * 10;
}

ACTOR Future<Void> defaultFirst(Kind kind) {
    switch (kind) {
    default:
        say("default");
        wait(delay(1));
        // fall through
    case Kind::One:
        say("one");
        break;
    case Kind::Two:
        break;
    }
    wait(delay(1));
    return Void();
}

ACTOR Future<int> inLoop(int limit) {
    state int i = 0;
    state int sum = 0;
    loop {
        Token t("pass " + std::to_string(i));
        i++;
        switch (i % 4) {
        case 0:
            say("leaves the switch");
            break;
        case 1:
            say("continues");
            wait(delay(1));
            continue;
        case 2: {
            state int j = 0;
            for (j = 0; j < 3; j++) {
                if (j == 1)
                    continue;
                if (j == 2)
                    break;
                Token u("u");
                wait(delay(1));
                say("inner %d", j);
            }
            break;
        }
        default:
            if (i > limit)
                return sum;
            int number = i;
            say("number %d", number);
            choose {
                when(wait(delay(1))) {
                    say("chosen");
                    break;
                }
                when(wait(delay(2))) { say("never"); }
            }
            say("not reached");
        }
        sum += i;
        say("sum %d", sum);
    }
}

ACTOR Future<Void> inTry(int path) {
    Token a("a");
    try {
        Token b("b");
        switch (path) {
        case 0:
            wait(delay(1));
            fails();
            break;
        case 1:
            try {
                Token c("c");
                wait(delay(1));
                throw timed_out();
            } catch (Error& e) {
                say("inner %s", e.name());
                wait(delay(1));
                throw;
            }
        case 2:
            throw operation_failed();
        case 3:
            wait(Future<Void>(end_of_stream()));
            break;
        }
        say("body ends");
    } catch (Error& e) {
        say("outer %s", e.name());
        switch (e.code()) {
        case error_code_timed_out:
            wait(delay(1));
            say("waited in handler");
            break;
        case error_code_io_error:
            throw;
        default:
            say("default");
        }
    }
    return Void();
}

// Conditions that declare, and a switch in a switch.
ACTOR Future<Void> nested(int path) {
    switch (Token t("t"); int kind = path / 10) {
    case 0:
        say("kind %d", kind);
        wait(delay(1));
        say("waited");
        break;
    case 1:
        switch (path % 10) {
        case 0:
            say("ten");
            break;
        case 1: {
            Token u("u");
            wait(delay(1));
            say("eleven");
            break;
        }
        default:
            return Void();
        }
        say("after inner");
        break;
    default:
        say("kind %d: t lives", kind);
    }
    say("after outer");
    return Void();
}

// Nothing waits in these: they are C++'s own, but for what leaves them.
ACTOR Future<int> plain(int path) {
    state int i = 0;
    switch (path) {
    case 0:
        return 10;
    case 1:
        for (i = 0; i < 5; i++) {
            switch (i) {
            case 1:
                continue;
            case 3:
                return i;
            }
            say("i %d", i);
        }
        break;
    case 2: {
        Token t("t");
        throw timed_out();
    }
    case 3:
        do {
            if (++i == 2)
                continue;
            say("i %d", i);
            if (i == 4)
                return 40 + i;
        } while (i < 5);
    }
    switch (path) {
    case 4:
        do {
            i++;
            if (i == 2) {
            case 5:
                i += 10;
            }
        } while (i < 5);
    }
    wait(delay(1));
    return i;
}

ACTOR Future<int> doLoops(int path) {
    state int i = 0;
    Token a("a");
    do {
        Token b("b" + std::to_string(i));
        i++;
        if (i == path)
            continue;
        if (i == path + 2)
            break;
        if (i == path + 5)
            return 100;
        wait(delay(1));
        say("do %d", i);
    } while (i < 4);
    say("after do at %d", i);
    do {
        say("once");
        wait(delay(1));
    } while (false);
    do
        wait(delay(1));
    while (++i < 7);
    do {
        try {
            i++;
            if (i == 8)
                continue;
            wait(Future<Void>(timed_out()));
        } catch (Error& e) {
            Token c("c");
            say("handler of %s", e.name());
            wait(delay(1));
            if (i < 10)
                continue;
            break;
        }
        say("eight skips this");
    } while (true);
    return i;
}

// A continue goes round without growing the stack.
ACTOR Future<int> manyPasses() {
    state int i = 0;
    do {
        switch (i++ % 2) {
        case 0:
            wait(Future<Void>(Void()));
            continue;
        default:
            wait(Future<Void>(Void()));
        }
    } while (i < 1000000);
    return i;
}

ACTOR Future<Void> cancelled(int path) {
    Token a("a");
    try {
        switch (path) {
        case 0:
            do {
                Token b("b");
                wait(delay(100));
            } while (true);
        default:
            wait(delay(100));
        }
    } catch (Error& e) {
        say("got %s", e.name());
        do {
            wait(delay(1));
        } while (true);
    }
    return Void();
}

int main() {
    SimLoop sim;
    for (int path = 0; path < 8; ++path) {
        say("-- sections %d", path);
        sim.run(watch("sections", sections(path)));
    }
    for (Kind kind : {Kind::One, Kind::Two, Kind::Three}) {
        say("-- default first %d", int(kind));
        sim.run(defaultFirst(kind));
    }
    say("-- in loop");
    sim.run(watch("in loop", inLoop(6)));
    for (int path = 0; path < 5; ++path) {
        say("-- try %d", path);
        sim.run(watch("try", inTry(path)));
    }
    for (int path : {0, 10, 11, 12, 20}) {
        say("-- nested %d", path);
        sim.run(nested(path));
    }
    for (int path = 0; path < 6; ++path) {
        say("-- plain %d", path);
        sim.run(watch("plain", plain(path)));
    }
    for (int path = 0; path < 4; ++path) {
        say("-- do %d", path);
        sim.run(watch("do", doLoops(path)));
    }
    say("%d", sim.run(manyPasses()));
    for (int path = 0; path < 2; ++path) {
        say("-- cancel %d", path);
        Future<Void> f = cancelled(path);
        f.cancel();
        sim.run(watch("cancelled", f));
    }
}
