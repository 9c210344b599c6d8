// Actors for exhaustion_test.cpp, as state machines.

#include "flow/flow.h"

#include <string>

using namespace flow;
#include "flow/actorcompiler.h"

ACTOR Future<std::string> named(std::string name, Future<int> f) {
    state std::string greeting = "a greeting that needs memory of its own: ";
    int value = wait(f);
    return greeting + name + std::to_string(value);
}

ACTOR Future<int> sumOf(FutureStream<int> numbers, int count) {
    state int sum = 0;
    state int i = 0;
    for (; i < count; i++) {
        int n = waitNext(numbers);
        sum += n;
    }
    return sum;
}

ACTOR Future<int> firstOf(Future<int> a, Future<int> b, double seconds) {
    loop choose {
        when(int x = wait(a)) {
            return x;
        }
        when(wait(success(b))) {
            return -1;
        }
        when(wait(delay(seconds))) {
            return -2;
        }
    }
}

ACTOR Future<int> withHandler(Future<int> f, int* handled) {
    try {
        wait(delay(0.5));
        int value = wait(f);
        return value;
    } catch (Error& e) {
        ++*handled;
        if (e.code() == error_code_actor_cancelled)
            throw;
    }
    return -1;
}

ACTOR Future<int> nested(int depth, Future<int> f) {
    if (depth == 0) {
        int value = wait(f);
        return value;
    }
    int below = wait(nested(depth - 1, f));
    return below + 1;
}

ACTOR void detached(Future<int> f, int* result) {
    int value = wait(f);
    *result = value;
}
