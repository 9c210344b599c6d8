#include "greet.h"
#include "flow/test.h"
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

TEST_CASE("/hello/a thousand greetings take no time") {
    state double start = now(); // virtual time
    int greeted = wait(greet("test", 1000));
    ASSERT_EQ(greeted, 1000);
    ASSERT(now() > start + 99.9 && now() < start + 100.1);
    return Void();
}

TEST_CASE("/hello/dropping the future cancels the actor") {
    state Future<int> greeting = greet("nobody", 1000);
    wait(delay(1));
    greeting = Future<int>();
    wait(delay(1000));
    return Void();
}
