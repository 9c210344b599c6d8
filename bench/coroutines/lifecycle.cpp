// bench/actors/lifecycle.actor.cpp as a person writes it with co_await. Propagate says of a coroutine what actorc sees
// of an actor: that there is no handler around its waits.

#include "bench/run.h"

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

Future<Void> driveCancel(Run* run, bool withHandler) {
    Promise<Void> never;
    std::vector<Future<Void>> waiting;
    waiting.reserve(run->size());
    co_await delay(0);
    while (run->next()) {
        std::uint32_t ends = 0;
        for (int i = 0; i < run->size(); ++i)
            waiting.push_back(withHandler ? waitHandled(never.getFuture(), &ends)
                                          : waitCounted(never.getFuture(), &ends));
        waiting.clear();
        run->expect(ends == static_cast<std::uint32_t>(withHandler ? 2 * run->size() : run->size()));
    }
}

std::size_t linkBytes() {
    return bench::bytes(passOn(Never()));
}

std::size_t waitBytes(bool withHandler) {
    std::uint32_t ends = 0;
    return bench::bytes(withHandler ? waitHandled(Never(), &ends) : waitCounted(Never(), &ends));
}

const bench::Style
    style("coroutine",
          {
              {"create_ready", driveCreateReady, [] { return bench::bytes(giveAtOnce(1)); }},
              {"await_ready", driveAwaitReady},
              {"chain", [](Run* run) { return driveChain(run, false); }, linkBytes},
              {"error", [](Run* run) { return driveChain(run, true); }, linkBytes},
              {"cancel", [](Run* run) { return driveCancel(run, false); }, [] { return waitBytes(false); }},
              {"cancel_handler", [](Run* run) { return driveCancel(run, true); }, [] { return waitBytes(true); }},
          });

} // namespace
