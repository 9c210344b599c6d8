// The keyword view: what an editor makes of an .actor.cpp file that actorc has not read.
#include "flow/core/stream.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace flow;

#include "flow/actorcompiler.h"

namespace described {
DESCR struct Described {
    int field; // which an editor does not see
};
static_assert(std::tuple_size_v<Descriptor<Described>::fields> == 0);
} // namespace described

namespace {

// A template that is never instantiated: parsed and type-checked as in an editor.
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

// Results may be bound, unpacked, copied and moved, as in an actor.
template <class>
ACTOR [[flow_allow_discard]] static Future<std::string> everyResult(Future<std::pair<int, std::unique_ptr<int>>> pair,
                                                                    Future<std::vector<std::unique_ptr<int>>> owners,
                                                                    Future<const char*> text) {
    state auto [number, owner] = wait(pair);
    state std::vector<std::unique_ptr<int>> mine = wait(owners);
    state int never = wait(Never());
    auto self = THIS;
    state std::uintptr_t address = THIS_ADDR;
    if (number)
        return wait(text);
    return "literal";
}

static_assert(std::is_same_v<decltype(wait(std::declval<Future<int>>())), int&>);
static_assert(std::is_same_v<decltype(wait(std::declval<Future<std::unique_ptr<int>>>())), std::unique_ptr<int>>);
static_assert(std::is_same_v<decltype(wait(delay(0))), Void>);
static_assert(std::is_same_v<decltype(wait(yield())), Void>);
static_assert(std::is_convertible_v<decltype(wait(Never())), std::string>);
static_assert(std::is_same_v<decltype(waitNext(std::declval<FutureStream<std::string>>())), std::string&>);

} // namespace

#include "flow/unactorcompiler.h"

TEST_CASE("keywords: none is left after unactorcompiler.h, and a second view brings them back") {
    int state = 1, loop = 2, choose = 3, when = 4; // would not compile while they are macros
    CHECK(state + loop + choose + when == 10);
#include "flow/actor/keywords.h"
#if !defined(THIS) || !defined(THIS_ADDR) || !defined(DESCR) || !defined(flow_allow_discard)
    FAIL("a word is missing");
#endif
#if !defined(ACTOR) || !defined(SWIFT_ACTOR) || !defined(UNCANCELLABLE) || !defined(state) || !defined(loop) ||        \
    !defined(choose) || !defined(when)
    FAIL("a keyword is missing");
#endif
#include "flow/unactorcompiler.h"
#if defined(THIS) || defined(THIS_ADDR) || defined(DESCR) || defined(flow_allow_discard)
    FAIL("a word leaks");
#endif
#if defined(ACTOR) || defined(SWIFT_ACTOR) || defined(UNCANCELLABLE) || defined(state) || defined(loop) ||             \
    defined(choose) || defined(when)
    FAIL("a keyword leaks");
#endif
}
