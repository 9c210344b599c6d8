// A million links end, fail, break and are cancelled on a stack of 256 KiB: actors, coroutines by hand, and both in turn.
#include "tests/flow/support/small_stack.h"

#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

using flow::test::kManyLinks;

ACTOR Future<int> passes(Future<int> next) {
    int n = wait(next);
    return n + 1;
}

ACTOR Future<int> handles(Future<int> next) {
    try {
        int n = wait(next);
        return n + 1;
    } catch (Error& e) {
        throw e;
    }
}

ACTOR Future<int> chooses(Future<int> next) {
    choose {
        when(int n = wait(next)) { return n + 1; }
        when(wait(Never())) { return 0; }
    }
}

/// Does not wait for the next one, but holds it, and waits for something else.
ACTOR Future<int> holds(Future<int> next, Future<Void> other) {
    wait(other);
    return next.get();
}

/// Breaks its promise when it ends.
ACTOR Future<Void> promises(Future<int> next, Promise<int> own) {
    int n = wait(next);
    own.send(n + 1);
    return Void();
}

ACTOR Future<int> breaks(FutureStream<int> next, PromiseStream<int> own) {
    int n = waitNext(next);
    return n;
}

static Future<int> byHand(Future<int> next) {
    ErrorOr<int> n = co_await tryGet(std::move(next));
    if (n.isError())
        co_await coro::fail(n.getError());
    co_return n.get() + 1;
}

static Future<int> propagates(Future<int> next, Propagate = {}) {
    co_return co_await next + 1;
}

static Future<int> races(Future<int> next, Propagate = {}) {
    auto first = co_await race(Never(), next);
    co_return std::get<1>(first) + 1;
}

static const char* const kLinks[] = {"actors", "handlers", "chooses", "coroutines", "propagating", "races", "mixed"};

static Future<int> link(int kind, int i, Future<int> next) {
    switch (kind == 6 ? i % 6 : kind) {
    case 0:
        return passes(next);
    case 1:
        return handles(next);
    case 2:
        return chooses(next);
    case 3:
        return byHand(next);
    case 4:
        return propagates(next);
    default:
        return races(next);
    }
}

static const char* const kEnds[] = {"value", "error", "broken", "cancelled", "dropped"};

static void chainOf(int kind) {
    for (int end = 0; end < 5; ++end) {
        Promise<int> promise;
        Future<int> last = promise.getFuture();
        for (int i = 0; i < kManyLinks; ++i)
            last = link(kind, i, std::move(last));
        Future<int> result = end == 4 ? Future<int>() : last;
        if (end == 0)
            promise.send(0);
        else if (end == 1)
            promise.sendError(timed_out());
        else if (end == 2)
            promise = Promise<int>();
        else if (end == 3)
            last.cancel();
        last = Future<int>();
        if (end == 0)
            say("%s: %s", kLinks[kind], result.get() == kManyLinks ? "value" : "wrong");
        else if (end != 4)
            say("%s: %s, %s", kLinks[kind], kEnds[end], result.getError().name());
        else
            say("%s: dropped, %u left", kLinks[kind], promise.getFutureReferenceCount());
    }
}

/// Every link holds the one before, in its state.
static void listOfHolders() {
    Promise<Void> other;
    Future<int> last = 1;
    for (int i = 0; i < kManyLinks; ++i)
        last = holds(std::move(last), other.getFuture());
    last = Future<int>();
    say("holders: dropped, %u left", other.getFutureReferenceCount());
}

/// Every link holds the promise for which the next one waits.
static void brokenPromises() {
    for (bool streams : {false, true}) {
        std::vector<Future<Void>> all;
        std::vector<Future<int>> readers;
        Promise<int> first;
        PromiseStream<int> firstStream;
        Future<int> next = first.getFuture();
        FutureStream<int> nextStream = firstStream.getFuture();
        for (int i = 0; i < kManyLinks; ++i) {
            if (streams) {
                PromiseStream<int> own;
                FutureStream<int> later = own.getFuture();
                readers.push_back(breaks(nextStream, own));
                nextStream = later;
            } else {
                Promise<int> own;
                Future<int> later = own.getFuture();
                all.push_back(promises(next, own));
                next = later;
            }
        }
        first = Promise<int>();
        firstStream = PromiseStream<int>();
        if (streams)
            say("broken streams: %s", readers.back().getError().name());
        else
            say("broken promises: %s, %s", all.back().getError().name(), next.getError().name());
    }
}

int main() {
    flow::test::onSmallStack(flow::test::kSmallStack, [] {
        for (int kind = 0; kind < 7; ++kind)
            chainOf(kind);
        listOfHolders();
        brokenPromises();
    });
}
