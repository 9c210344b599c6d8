// How cancelEverywhere does it, and its own test: it must find what a faulty computation leaves behind.
#include "tests/flow/support/cancel_everywhere.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/test_waiter.h"
#include "tests/flow/support/throws.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <ostream> // lets doctest print strings
#include <string>

namespace flow::test {

Sentinel::Sentinel(Inputs& inputs) : inputs_(&inputs) {
    ++inputs_->alive_;
}
Sentinel::~Sentinel() {
    --inputs_->alive_;
    if (inputs_->onDeath)
        inputs_->onDeath();
}

namespace {

Future<int> source(Sentinel, Future<int> when, Propagate = {}) {
    co_return co_await when;
}
Future<Void> signal(Sentinel, Future<int> when, Propagate = {}) {
    (void)co_await when;
}
Future<Void> plainSignal(Future<int> when, Propagate = {}) {
    (void)co_await when;
}

} // namespace

Future<int> Inputs::number(int i) {
    return source(sentinel(), promised(i));
}
Future<Void> Inputs::event(int i) {
    return signal(sentinel(), promised(i));
}
FutureStream<int> Inputs::numbers() {
    return streams_.emplace_back().getFuture();
}
FutureStream<Future<Void>> Inputs::events() {
    return streamsOfEvents_.emplace_back().getFuture();
}

void Inputs::step(int i) {
    if (i < kPromises)
        return fail_ ? promises_[i].sendError(timed_out()) : promises_[i].send(i);
    // By index: a resumed waiter may make more streams.
    if (i == kPromises) {
        for (std::size_t s = 0; s < streams_.size(); ++s)
            PromiseStream<int>(streams_[s]).send(7);
        for (std::size_t s = 0; s < streamsOfEvents_.size(); ++s)
            PromiseStream<Future<Void>>(streamsOfEvents_[s]).send(plainSignal(promised(1)));
    } else if (i == kPromises + 1) {
        for (std::size_t s = 0; s < streams_.size(); ++s)
            PromiseStream<int>(streams_[s]).sendError(end_of_stream());
        for (std::size_t s = 0; s < streamsOfEvents_.size(); ++s)
            PromiseStream<Future<Void>>(streamsOfEvents_[s]).sendError(end_of_stream());
    } else if (i == kPromises + 2) {
        letTimePass();
    } else {
        for (auto const& action : actions_)
            action();
        pass(0);
    }
}

namespace {

Future<Void> stopIn(double seconds) {
    co_await delay(seconds);
    Loop::current().stop();
}

} // namespace

void Inputs::pass(double seconds) {
    // A computation may have stopped the loop: then the first run ends at once.
    for (Future<Void> passed = stopIn(seconds); !passed.isReady();)
        loop_.run();
}

void Inputs::letTimePass() {
    pass(1);
}

bool Inputs::conditionsHold() const {
    for (auto const& holds : conditions_)
        if (!holds())
            return false;
    return true;
}

namespace {

enum class How {
    Drop,
    Cancel,
    CancelTwice,
    ByEarlierWaiter, // of an input: it runs after the computation
    ByLaterWaiter,
    ByOwnWaiter, // of the result
    ByDeath,     // of the first object to be destroyed, which also drops a sibling
    Never,
};
const char* const kHows[] = {"drop",          "cancel",     "cancel twice", "by an earlier waiter", "by a later waiter",
                             "by its waiter", "by a death", "not at all"};

struct Run {
    How how;
    int stepsBefore;
    bool backwards, fail;
    Traits traits;

    int stepAt(int n) const { return backwards ? Inputs::kSteps - 1 - n : n; }

    /// What is wrong, or nothing.
    std::string operator()(std::function<AnyFuture(Inputs&)> const& make) const {
        Blocks blocks;
        Throws throws;
        std::string fault;
        {
            Inputs inputs(fail);
            fault = perform(inputs, make);
            if (!inputs.conditionsHold())
                fault += "; a condition does not hold afterwards";
            inputs.onDeath = nullptr;
        }
        if (blocks.leaked() != 0)
            fault += "; blocks leaked: " + std::to_string(blocks.leaked());
        if (throws.count() != 0 && !traits.hasHandlers)
            fault += "; C++ exceptions: " + std::to_string(throws.count());
        return fault;
    }

private:
    std::string perform(Inputs& inputs, std::function<AnyFuture(Inputs&)> const& make) const {
        int next = stepAt(stepsBefore);
        bool byWaiter =
            (how == How::ByEarlierWaiter || how == How::ByLaterWaiter) && next >= 0 && next < Inputs::kPromises;
        std::function<void()> cancel = [] {};
        test::TestWaiter waiter([&](detail::Cell*) { cancel(); });
        if (byWaiter && how == How::ByEarlierWaiter)
            waiter.wait(inputs.promised(next));
        AnyFuture future = make(inputs);
        AnyFuture sibling = how == How::ByDeath ? make(inputs) : AnyFuture(Future<Void>());
        if (byWaiter && how == How::ByLaterWaiter)
            waiter.wait(inputs.promised(next));
        test::TestWaiter own([&](detail::Cell*) { future.drop(); });
        if (how == How::ByOwnWaiter && !future.isReady()) {
            detail::addFuture(future.cell());
            detail::park(&own, future.cell());
        }
        if (how == How::ByDeath)
            cancel = [&] {
                if (future.isValid())
                    future.cancel();
                sibling.drop();
            };
        else
            cancel = [&] { future.drop(); };
        for (int n = 0; n < stepsBefore; ++n)
            inputs.step(stepAt(n));
        std::string fault = end(inputs, future, sibling, cancel, byWaiter);
        detail::abandon(&own);
        if (inputs.alive() != 0)
            fault += "; alive at the end: " + std::to_string(inputs.alive());
        return fault;
    }

    std::string end(Inputs& inputs, AnyFuture& future, AnyFuture& sibling, std::function<void()> const& cancel,
                    bool byWaiter) const {
        std::string fault;
        bool wasReady = future.isValid() && future.isReady();
        bool cancelled = how == How::Cancel || how == How::CancelTwice;
        if (how == How::ByDeath)
            inputs.onDeath = cancel;
        if (how == How::Drop || (!byWaiter && (how == How::ByEarlierWaiter || how == How::ByLaterWaiter)))
            future.drop();
        for (int i = 0; cancelled && i < (how == How::CancelTwice ? 2 : 1); ++i)
            future.cancel();
        auto keepsWord = [&] { return wasReady || (future.isReady() && future.wasCancelled() == !traits.endsWell); };
        if (cancelled && !traits.runsOn && !keepsWord())
            fault += "; the result does not say that it was cancelled";
        if ((cancelled || !future.isValid()) && !traits.runsOn && inputs.alive() != 0)
            fault += "; alive after the cancel: " + std::to_string(inputs.alive());
        for (int n = stepsBefore; n < Inputs::kSteps; ++n)
            inputs.step(stepAt(n));
        if (cancelled && !traits.runsOn && !keepsWord())
            fault += "; the result has changed later";
        inputs.letTimePass();
        future.drop();
        sibling.drop();
        return fault;
    }
};

std::string firstFault(std::function<AnyFuture(Inputs&)> const& make, Traits traits) {
    for (bool backwards : {false, true})
        for (bool fail : {false, true})
            for (int steps = 0; steps <= Inputs::kSteps; ++steps)
                for (int how = 0; how < static_cast<int>(std::size(kHows)); ++how) {
                    Run run{static_cast<How>(how), steps, backwards, fail, traits};
                    std::string fault = run(make);
                    if (!fault.empty())
                        return std::string(kHows[how]) + " after " + std::to_string(steps) + " steps" +
                               (backwards ? ", backwards" : "") + (fail ? ", with errors" : "") + fault;
                }
    return "";
}

} // namespace

void cancelEverywhere(const char* name, std::function<AnyFuture(Inputs&)> const& make, Traits traits) {
    INFO(std::string(name));
    DroppedErrorHandler before = setDroppedErrorHandler([](const char*, Error) {}); // of what runs on
    std::string fault = firstFault(make, traits);
    setDroppedErrorHandler(before);
    CHECK(fault == "");
}

} // namespace flow::test

using namespace flow;
using namespace flow::test;

TEST_CASE("support: cancelEverywhere finds what outlives a cancel, throws, or runs on") {
    auto says = [](auto make, const char* part, Traits traits = {}) {
        std::string fault = firstFault(make, traits);
        INFO(fault);
        CHECK(fault.find(part) != std::string::npos);
    };
    says([](Inputs& in) { return in.keep<Future<int>>(in.number(2)); }, "drop after 0 steps; alive after");
    says([](Inputs& in) { return Promise<int>(in.keep<Promise<int>>()).getFuture(); }, "does not say that it was");
    says([](Inputs& in) { return [](Future<int> f) -> Future<Void> { (void)co_await f; }(in.number(0)); },
         "C++ exceptions: 1");
    says(
        [](Inputs& in) {
            return [](Uncancellable, Sentinel, Future<int> f) -> Future<Void> {
                (void)co_await tryGet(f);
            }(Uncancellable(), in.sentinel(), in.number(0));
        },
        "alive after the cancel: 2");
    says(
        [](Inputs& in) {
            in.afterwards([] { return false; });
            return in.number(1);
        },
        "a condition does not hold");
    says([](Inputs& in) { return in.number(1); }, "does not say", Traits{.endsWell = true});
    cancelEverywhere("one input", [](Inputs& in) { return in.number(1); });
}
