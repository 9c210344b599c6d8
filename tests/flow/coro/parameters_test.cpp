// The parameters of a coroutine: each is destroyed once, the last one first, after the locals and before any waiter
// sees the result; however many there are, of whatever kind, and however the coroutine ends.
#include "flow/coro/detail/parameters.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <stdexcept>

using namespace flow;
using flow::test::Blocks;
using flow::test::Noisy;
using flow::test::TraceLog;

namespace {

Future<int> wait(TraceLog& log, Future<int> const& awaited) {
    Noisy local(log, "local");
    int value = co_await awaited;
    if (value < 0)
        throw timed_out();
    co_return value;
}

// Between them stand some without a destructor.
Future<int> none(TraceLog& log, Future<int> const& awaited, int) {
    Noisy local(log, "local");
    int value = co_await awaited;
    if (value < 0)
        throw timed_out();
    co_return value;
}
Future<int> one(int, Noisy, TraceLog& log, Future<int> const& awaited) {
    co_return co_await wait(log, awaited);
}
Future<int> two(Noisy, double, Noisy, TraceLog& log, Future<int> const& awaited) {
    co_return co_await wait(log, awaited);
}
Future<int> three(TraceLog& log, Noisy, Noisy, Future<int> const& awaited, Noisy) {
    co_return co_await wait(log, awaited);
}
Future<int> four(Noisy, TraceLog& log, Noisy, const Future<int> awaited, Noisy) {
    co_return co_await wait(log, awaited);
}
Future<int> five(Noisy, TraceLog& log, Noisy, Noisy, const Future<int> awaited, Noisy) {
    co_return co_await wait(log, awaited);
}
Future<int> propagating(Noisy, TraceLog& log, Noisy, Future<int> const& awaited, Propagate = {}) {
    co_return co_await wait(log, awaited);
}
struct Copied : Noisy { // has no move
    using Noisy::Noisy;
    Copied(Copied const&) = default;
};
Future<int> propagatingConst(Noisy, TraceLog& log, Noisy const, Noisy, Future<int> const& awaited, Propagate = {}) {
    co_return co_await wait(log, awaited);
}
Future<int> propagatingCopies(Noisy, TraceLog& log, Copied, Noisy, Future<int> const& awaited, Propagate = {}) {
    co_return co_await wait(log, awaited);
}
Future<int> uncancellable(Uncancellable, Noisy, TraceLog& log, Noisy, Future<int> const& awaited) {
    co_return co_await wait(log, awaited);
}

struct Object {
    TraceLog& log;
    Future<int> member(Noisy, Noisy, Future<int> const& awaited) const { co_return co_await wait(log, awaited); }
    Future<int> stubborn(Uncancellable, Noisy, Noisy, Future<int> const& awaited) {
        co_return co_await wait(log, awaited);
    }
};

Future<Void> watch(TraceLog& log, Future<int> future) {
    ErrorOr<int> result = co_await tryGet(std::move(future));
    log.say(result.present() ? std::to_string(result.get()) : result.getError().name());
}

/// Calls its function in the destructor, unless it was moved from.
class Last {
public:
    explicit Last(std::function<void()> act) : act_(std::move(act)) {}
    Last(Last&& other) noexcept : act_(std::exchange(other.act_, nullptr)) {}
    ~Last() {
        if (act_)
            act_();
    }

private:
    std::function<void()> act_;
};

/// Whether a local and then these parameters were destroyed, and then came the rest.
bool sawDestroyed(std::string const& said, std::string const& parameters, std::string const& rest) {
    std::string expected = "~local";
    for (char name : parameters)
        expected += std::string(" ~") + name;
    expected += rest;
    if (said == expected)
        return true;
    MESSAGE("said: ", said, "; not: ", expected);
    return false;
}

/// A copy of it may be refused, and with kMove a move too.
template <bool kMove>
struct Refusing {
    static inline int left = -1; // this many are not refused
    static inline int live = 0;

    Refusing() { ++live; }
    Refusing(Refusing const&) { take(); }
    Refusing(Refusing&&) noexcept(!kMove) {
        if constexpr (kMove)
            take();
        else
            ++live;
    }
    ~Refusing() { --live; }

private:
    static void take() {
        if (left >= 0 && left-- == 0)
            throw std::runtime_error("refused");
        ++live;
    }
};

/// `taken` constructions of Parameter go well, the next may be refused: what throws as a parameter is copied leaves
/// nothing; what does not waits, and is cancelled. The first argument is moved by the caller.
template <class Parameter>
void takeOver(auto task, int taken, bool throws) {
    CAPTURE(taken);
    CAPTURE(throws);
    Blocks blocks;
    {
        Promise<int> promise;
        Future<int> awaited = promise.getFuture();
        {
            Parameter given;
            Parameter::left = taken;
            if (throws)
                CHECK_THROWS_AS((void)task(awaited, std::move(given), Parameter()), std::runtime_error);
            else
                CHECK(!task(awaited, std::move(given), Parameter()).isReady());
            CHECK((Parameter::left == -1) == throws);
            Parameter::left = -1;
        }
        CHECK(promise.getFutureReferenceCount() == 1);
        CHECK(Parameter::live == 0);
    }
}

} // namespace

TEST_CASE("parameters: a coroutine that cannot take one over never becomes one") {
    using Copied = Refusing<true>;
    using Moved = Refusing<false>;
    auto copied = [](Future<int> a, Copied, Copied) -> Future<int> { co_return co_await a; };
    auto propagating = [](Future<int> a, Copied, Copied, Propagate = {}) -> Future<int> { co_return co_await a; };
    auto moved = [](Future<int> a, Moved, Moved) -> Future<int> { co_return co_await a; };
    auto firstConst = [](Future<int> a, const Moved, Moved) -> Future<int> { co_return co_await a; };
    auto lastConst = [](Future<int> a, Moved, const Moved) -> Future<int> { co_return co_await a; };
    takeOver<Copied>(copied, 0, true); // by the caller
    takeOver<Copied>(copied, 3, false);
    takeOver<Copied>(propagating, 3, false);
    takeOver<Moved>(moved, 0, false);
    takeOver<Moved>([](Future<int> a, Moved&&, Moved const&) -> Future<int> { co_return co_await a; }, 0, false);
    takeOver<Copied>([](Future<int> a, Copied&&, Copied const&) -> Future<int> { co_return co_await a; }, 0, false);
    // At -O0 clang 19 keeps the exception in the frame, and reads it there, to throw it on, after operator delete.
    if (MILLRACE_UNDER_ASAN)
        return;
    for (int taken : {1, 2}) {
        takeOver<Copied>(copied, taken, true);
        takeOver<Copied>(propagating, taken, true);
    }
    takeOver<Moved>(firstConst, 0, true);
    takeOver<Moved>(lastConst, 0, true);
}

TEST_CASE("parameters: all are destroyed once, the last one first, before the result is seen") {
    TraceLog log;
    Object object{log};
    auto noisy = [&](const char* name) { return Noisy(log, name); };
    auto lambda = [&log](Noisy, Future<int> const& awaited, Noisy) -> Future<int> {
        co_return co_await wait(log, awaited);
    };
    using Start = std::function<Future<int>(Future<int> const&)>;
    std::vector<std::pair<Start, std::string>> starts = {
        {[&](auto& f) { return none(log, f, 0); }, ""},
        {[&](auto& f) { return one(0, noisy("a"), log, f); }, "a"},
        {[&](auto& f) { return two(noisy("a"), 0, noisy("b"), log, f); }, "ba"},
        {[&](auto& f) { return three(log, noisy("a"), noisy("b"), f, noisy("c")); }, "cba"},
        {[&](auto& f) { return four(noisy("a"), log, noisy("b"), f, noisy("c")); }, "cba"},
        {[&](auto& f) { return five(noisy("a"), log, noisy("b"), noisy("c"), f, noisy("d")); }, "dcba"},
        {[&](auto& f) { return propagating(noisy("a"), log, noisy("b"), f); }, "ba"},
        {[&](auto& f) { return uncancellable(Uncancellable(), noisy("a"), log, noisy("b"), f); }, "ba"},
        {[&](auto& f) { return object.member(noisy("a"), noisy("b"), f); }, "ba"},
        {[&](auto& f) { return object.stubborn(Uncancellable(), noisy("a"), noisy("b"), f); }, "ba"},
        {[&](auto& f) { return lambda(noisy("a"), f, noisy("b")); }, "ba"},
    };
    Blocks blocks;
    for (auto& [start, destroyed] : starts) {
        std::size_t number = 0;
        while (&starts[number].first != &start)
            ++number;
        CAPTURE(number);
        for (int value : {7, -1}) {
            CAPTURE(value);
            std::string seen = value < 0 ? " timed_out" : " 7";
            {
                Promise<int> promise;
                Future<int> awaited = promise.getFuture();
                Future<Void> watcher = watch(log, start(awaited));
                log.take(); // arguments that were moved from may have said something
                promise.send(value);
                CHECK(sawDestroyed(log.take(), destroyed, seen));
            }
            Future<int> ready = value;
            Future<Void> watcher = watch(log, start(ready));
            CHECK(sawDestroyed(log.take(), destroyed, seen));
        }
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("parameters: all are destroyed once when the coroutine is cancelled") {
    TraceLog log;
    auto noisy = [&](const char* name) { return Noisy(log, name); };
    Promise<int> promise;
    Future<int> awaited = promise.getFuture();
    Blocks blocks;
    (void)two(noisy("a"), 0, noisy("b"), log, awaited);
    CHECK(sawDestroyed(log.take(), "ba", ""));
    (void)five(noisy("a"), log, noisy("b"), noisy("c"), awaited, noisy("d"));
    CHECK(sawDestroyed(log.take(), "dcba", ""));
    (void)propagating(noisy("a"), log, noisy("b"), awaited);
    CHECK(sawDestroyed(log.take(), "ba", ""));
    // What is const, or has no noexcept move, cannot be moved from.
    Future<int> waiting = propagatingConst(noisy("a"), log, noisy("b"), noisy("c"), awaited);
    log.take(); // of the arguments
    waiting = Future<int>();
    CHECK(sawDestroyed(log.take(), "cba", ""));
    waiting = propagatingCopies(noisy("a"), log, Copied(log, "b"), noisy("c"), awaited);
    log.take();
    waiting = Future<int>();
    CHECK(sawDestroyed(log.take(), "cba", ""));
    CHECK(blocks.leaked() == 0);
    CHECK(promise.getFutureReferenceCount() == 1);
}

TEST_CASE("parameters: a destructor at the end may drop the coroutine, cancel others, or own what it awaited") {
    TraceLog log;
    Blocks blocks;
    auto task = [](TraceLog& said, Future<int> a, Last, std::unique_ptr<Noisy>) -> Future<int> {
        int value = co_await std::move(a);
        said.say("go");
        co_return value;
    };
    for (bool itself : {true, false}) {
        Promise<int> promise;
        Promise<int> other;
        Future<int> mine;
        Future<int> victim = wait(log, other.getFuture());
        Last last([&] {
            log.say("last");
            (itself ? mine : victim) = Future<int>();
        });
        mine = task(log, promise.getFuture(), std::move(last), std::make_unique<Noisy>(log, "owned"));
        promise.send(1);
        CHECK(log.take() == (itself ? "go ~owned last" : "go ~owned last ~local"));
        CHECK(mine.isValid() == !itself);
        victim = Future<int>();
        log.take();
    }
    CHECK(blocks.leaked() == 0);
}

TEST_CASE("parameters: a coroutine without a Future destroys them as well") {
    TraceLog log;
    Blocks blocks;
    auto task = [](TraceLog& said, Future<int> awaited, Noisy) -> coro::Detached {
        (void)co_await awaited;
        said.say("end");
    };
    {
        Promise<int> promise;
        task(log, promise.getFuture(), Noisy(log, "parameter"));
        CHECK(log.take() == "");
        promise.send(1);
        CHECK(log.take() == "end ~parameter");
    }
    CHECK(blocks.leaked() == 0);
}
