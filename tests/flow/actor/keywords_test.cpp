// The keyword view: what an editor makes of an .actor.cpp file that actorc has not read.
#include "flow/core/stream.h"
#include "flow/loop/delay.h"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>

using namespace flow;

#include "flow/actorcompiler.h"

namespace {

// A template that nobody instantiates: parsed and type-checked as in an editor, and never called.
template <class>
ACTOR Future<int> everyKeyword(Future<int> x, FutureStream<std::string> lines, Future<Void> quit) {
    state int sum = 0;
    state std::string last;
    int v = wait(x);
    sum += v;
    wait(quit);
    wait(delay(0.5) /* in place */);
    wait(yield());
    loop choose {
        when(std::string line = waitNext(lines)) {
            last = line;
        }
        when(wait(quit)) {
            break;
        }
    }
    return sum;
}

template <class>
UNCANCELLABLE SWIFT_ACTOR Future<Void> otherKeywords(Future<int> x) {
    try {
        int v = wait(x);
        if (v)
            wait(Never());
    } catch (Error& e) {
        throw;
    }
    return Void();
}

static_assert(std::is_same_v<decltype(wait(std::declval<Future<int>>())), int>);
static_assert(std::is_same_v<decltype(wait(delay(0))), Void>);
static_assert(std::is_same_v<decltype(wait(yield())), Void>);
static_assert(std::is_same_v<decltype(wait(Never())), Void>);
static_assert(std::is_same_v<decltype(waitNext(std::declval<FutureStream<std::string>>())), std::string>);

} // namespace

#include "flow/unactorcompiler.h"

TEST_CASE("keywords: none is left after unactorcompiler.h, and a second view brings them back") {
    int state = 1, loop = 2, choose = 3, when = 4; // would not compile while they are macros
    CHECK(state + loop + choose + when == 10);
#include "flow/actor/keywords.h"
#if !defined(ACTOR) || !defined(SWIFT_ACTOR) || !defined(UNCANCELLABLE) || !defined(state) || !defined(loop) ||        \
    !defined(choose) || !defined(when)
    FAIL("a keyword is missing");
#endif
#include "flow/unactorcompiler.h"
#if defined(ACTOR) || defined(SWIFT_ACTOR) || defined(UNCANCELLABLE) || defined(state) || defined(loop) ||             \
    defined(choose) || defined(when)
    FAIL("a keyword leaks");
#endif
}
