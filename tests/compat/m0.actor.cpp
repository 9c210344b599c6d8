// Level M0: Future, Promise, streams, Void and errors, as generated actor programs use them.
#include <cstdio>

#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

static void output(const char* what, int value) {
    printf("%s %d\n", what, value);
}

ACTOR static Future<int> addTwo(Future<int> a, Future<int> b) {
    int x = wait(a);
    output("first", x);
    state int sum = x;
    int y = wait(b);
    sum += y;
    return sum;
}

ACTOR static Future<Void> sumStream(FutureStream<int> in, PromiseStream<int> out) {
    state int sum = 0;
    try {
        loop {
            int n = waitNext(in);
            if (n < 0)
                throw operation_failed();
            if (n == 0)
                continue;
            sum += n;
            out.send(sum);
        }
    } catch (Error& e) {
        output("end", e.code());
        if (e.code() != error_code_end_of_stream)
            throw;
        out.sendError(e);
    }
    return Void();
}

ACTOR static Future<int> chooser(Future<int> a, FutureStream<int> b) {
    state int passes = 0;
    loop {
        choose {
            when(int x = wait(a)) {
                output("value", x);
                return passes;
            }
            when(int x = waitNext(b)) {
                output("element", x);
                if (x == 99)
                    break;
            }
        }
        ++passes;
    }
    return -passes;
}

ACTOR static Future<int> loops(int n, PromiseStream<int> trace) {
    state int i = 0;
    state int j = 0;
    for (; i < n; i++) {
        j = 0;
        loop {
            if (j++ >= i) break;
            wait(Future<Void>(Void()));
            if (j == 2)
                continue;
            trace.send(10 * i + j);
        }
    }
    return i;
}

template <class T>
static void show(const char* what, Future<T> f) {
    if (!f.isReady())
        printf("%s pending\n", what);
    else if (f.isError())
        printf("%s %s\n", what, f.getError().name());
    else if constexpr (std::is_same_v<T, int>)
        printf("%s %d\n", what, f.get());
    else
        printf("%s done\n", what);
}

int main() {
    {
        Promise<int> a, b;
        Future<int> f = addTwo(a.getFuture(), b.getFuture());
        b.send(2);
        show("sum", f);
        a.send(1);
        show("sum", f);
        show("failed", addTwo(1, operation_failed()));
        Future<int> broken;
        {
            Promise<int> p;
            broken = addTwo(p.getFuture(), 0);
        }
        show("broken", broken);
        Promise<int> never;
        f = addTwo(1, never.getFuture());
        f.cancel();
        show("cancelled", f);
    }
    {
        PromiseStream<int> in, out;
        FutureStream<int> sums = out.getFuture();
        Future<Void> f = sumStream(in.getFuture(), out);
        for (int n : { 1, 0, 2, 3 })
            in.send(n);
        in.sendError(end_of_stream());
        show("stream", f);
        while (!sums.isError())
            output("sum", sums.pop());
        output("sums", sums.getError().code());
        PromiseStream<int> bad;
        f = sumStream(bad.getFuture(), PromiseStream<int>());
        bad.send(-1);
        show("stream", f);
    }
    {
        Promise<int> a;
        PromiseStream<int> b;
        Future<int> f = chooser(a.getFuture(), b.getFuture());
        b.send(5);
        b.send(6);
        a.send(7);
        b.send(8);
        show("passes", f);
        show("left", Future<int>(b.getFuture().pop()));
        f = chooser(Never(), b.getFuture());
        b.send(99);
        show("passes", f);
    }
    PromiseStream<int> trace;
    FutureStream<int> traced = trace.getFuture();
    show("loops", loops(4, trace));
    while (traced.isReady())
        output("trace", traced.pop());
    return 0;
}
