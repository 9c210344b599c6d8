// bench/actors/lifecycle.actor.cpp as a person writes it with co_await. Propagate says of a coroutine what actorc sees
// of an actor: that there is no handler around its waits.

#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <vector>

namespace {

using namespace flow;
using bench::Counted;
using bench::Run;

Future<int> giveAtOnce(int number) {
    if (number < 0)
        co_await delay(1);
    co_return number;
}

Future<Void> driveCreateReady(Run* run) {
    int sum = 0;
    co_await delay(0);
    while (run->next()) {
        Future<int> number = giveAtOnce(1);
        sum += number.get();
    }
    run->expect(sum > 0);
}

Future<Void> driveAwaitReady(Run* run) {
    Future<int> number = 1;
    int sum = 0;
    while (run->next())
        sum += co_await number;
    run->expect(sum > 0);
}

Future<int> passOn(Future<int> from, Propagate = {}) {
    co_return co_await from + 1;
}

Future<Void> driveChain(Run* run, bool fails) {
    co_await delay(0);
    while (run->next()) {
        Promise<int> first;
        Future<int> last = first.getFuture();
        for (int i = 0; i < run->size(); ++i)
            last = passOn(std::move(last));
        if (fails)
            first.sendError(io_error());
        else
            first.send(0);
        run->expect(fails ? last.isError() : last.get() == run->size());
    }
}

Future<Void> waitCounted(Future<Void> never, std::uint32_t* ends, Propagate = {}) {
    Counted counted(ends);
    co_await never;
}

Future<Void> waitHandled(Future<Void> never, std::uint32_t* ends) {
    Counted counted(ends);
    try {
        co_await never;
    } catch (Error& e) {
        ++*ends;
        throw;
    }
}

Future<Void> waitPlain(Future<Void> never, std::uint32_t* ends) {
    Counted counted(ends);
    co_await never;
}

/// `start(never, &ends)` makes what is dropped, which counts `endsOfOne` then.
template <class Start>
Future<Void> driveCancel(Run* run, Start start, int endsOfOne) {
    Promise<Void> never;
    std::vector<Future<Void>> waiting;
    waiting.reserve(run->size());
    co_await delay(0);
    while (run->next()) {
        std::uint32_t ends = 0;
        for (int i = 0; i < run->size(); ++i)
            waiting.push_back(start(never.getFuture(), &ends));
        waiting.clear();
        run->expect(ends == static_cast<std::uint32_t>(endsOfOne * run->size()));
    }
}

std::size_t linkBytes() {
    return bench::bytes(passOn(Never()));
}

constexpr auto kCounted = [](Future<Void> never, std::uint32_t* ends) { return waitCounted(std::move(never), ends); };
constexpr auto kHandled = [](Future<Void> never, std::uint32_t* ends) { return waitHandled(std::move(never), ends); };
constexpr auto kPlain = [](Future<Void> never, std::uint32_t* ends) { return waitPlain(std::move(never), ends); };

template <class Start>
std::size_t waitBytes(Start start) {
    std::uint32_t ends = 0;
    return bench::bytes(start(Never(), &ends));
}

const bench::Style style(
    "coroutine",
    {
        {"create_ready", driveCreateReady, [] { return bench::bytes(giveAtOnce(1)); }},
        {"await_ready", driveAwaitReady},
        {"chain", [](Run* run) { return driveChain(run, false); }, linkBytes},
        {"error", [](Run* run) { return driveChain(run, true); }, linkBytes},
        {"cancel", [](Run* run) { return driveCancel(run, kCounted, 1); }, [] { return waitBytes(kCounted); }},
        {"cancel_handler", [](Run* run) { return driveCancel(run, kHandled, 2); }, [] { return waitBytes(kHandled); }},
        {"cancel_plain", [](Run* run) { return driveCancel(run, kPlain, 1); }, [] { return waitBytes(kPlain); }},
    });

} // namespace
