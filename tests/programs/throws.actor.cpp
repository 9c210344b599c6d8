// Errors and cancels throw no C++ exception, through any number of levels of actors, of coroutines, and of both.
#define COUNT_THROWS_HERE
#include "tests/flow/support/throws.h"

#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

using flow::test::Throws;

ACTOR Future<int> passes(Future<int> next) {
    state Token local;
    int n = wait(next);
    return n + 1;
}

ACTOR Future<int> tries(Future<int> next) {
    try {
        int n = wait(next);
        return n + 1;
    } catch (Error& e) {
        if (e.code() == error_code_timed_out)
            throw;
        throw e;
    }
}

ACTOR Future<int> throwsItself(Future<int> next) {
    int n = wait(next);
    if (n < 0)
        throw operation_failed();
    loop {
        try {
            wait(Never());
        } catch (Error& e) {
            throw io_error();
        }
    }
}

ACTOR Future<int> chooses(Future<int> next) {
    choose {
        when(int n = wait(next)) { return n + 1; }
        when(wait(Never())) {}
    }
    return 0;
}

ACTOR Future<int> reads(FutureStream<int> stream) {
    state int sum = 0;
    try {
        loop {
            int n = waitNext(stream);
            sum += n;
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    return sum;
}

static Future<int> byHand(Future<int> next, Propagate = {}) {
    co_return co_await next + 1;
}

static Future<int> byHandWithHandler(Future<int> next) {
    Error error;
    try {
        co_return co_await next + 1;
    } catch (Error& caught) {
        error = caught;
    }
    co_await coro::fail(error);
    co_return 0;
}

static Future<int> level(int kind, int i, Future<int> next) {
    if (kind == 5) // mixed
        kind = i % 5;
    switch (kind) {
    case 0:
        return passes(next);
    case 1:
        return tries(next);
    case 2:
        return chooses(next);
    case 3:
        return byHand(next);
    case 4:
        return byHand(passes(tries(next)));
    default:
        return byHandWithHandler(next);
    }
}

/// Ends a chain in five ways: an error that is there from the start, one that comes, a promise that breaks, a cancel, and
/// a drop.
static void chain(const char* name, int kind, int levels) {
    std::string said;
    for (int how = 0; how < 5; ++how) {
        Throws throws;
        Promise<int> promise;
        if (how == 0)
            promise.sendError(io_error());
        Future<int> last = promise.getFuture();
        for (int i = 0; i < levels; ++i)
            last = level(kind, i, last);
        if (how == 1)
            promise.sendError(timed_out());
        if (how == 2)
            promise = Promise<int>();
        if (how == 3)
            last.cancel();
        std::string error = how == 4 ? "drop" : last.getError().name();
        last = Future<int>();
        said += " " + error + "=" + std::to_string(throws.count());
    }
    say("%s, %d levels:%s", name, levels, said.c_str());
}

int main() {
    SimLoop sim;
    const char* names[] = {"actors", "handlers", "chooses", "coroutines", "in turn", "mixed"};
    for (int kind = 0; kind < 6; ++kind)
        for (int levels : {10, 1000})
            chain(names[kind], kind, levels);
    chain("coroutines with handlers", 6, 10);

    Throws throws;
    Promise<int> minus;
    Future<int> own = throwsItself(minus.getFuture());
    minus.send(-1);
    say("%s of its own: %ld throws", own.getError().name(), throws.count());
    own = throwsItself(1);
    own.cancel();
    say("%s in a handler: %ld throws", own.getError().name(), throws.count());

    PromiseStream<int> stream;
    Future<int> sum = reads(stream.getFuture());
    stream.send(2);
    stream.send(3);
    stream.sendError(end_of_stream());
    say("a stream that ends with %d: %ld throws", sum.get(), throws.count());
}
