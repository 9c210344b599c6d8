// The life of one actor: made, waiting, done, failed, cancelled.

#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Counted;
using bench::Run;

ACTOR Future<int> giveAtOnce(int number) {
    if (number < 0) {
        wait(delay(1));
    }
    return number;
}

ACTOR Future<Void> driveCreateReady(Run* run) {
    state int sum = 0;
    wait(delay(0));
    while (run->next()) {
        Future<int> number = giveAtOnce(1);
        sum += number.get();
    }
    run->expect(sum > 0);
    return Void();
}

ACTOR Future<Void> driveAwaitReady(Run* run) {
    state Future<int> number = 1;
    state int sum = 0;
    while (run->next()) {
        int one = wait(number);
        sum += one;
    }
    run->expect(sum > 0);
    return Void();
}

ACTOR Future<int> passOn(Future<int> from) {
    int number = wait(from);
    return number + 1;
}

ACTOR Future<Void> driveChain(Run* run, bool fails) {
    wait(delay(0));
    while (run->next()) {
        Promise<int> first;
        Future<int> last = first.getFuture();
        for (int i = 0; i < run->size(); ++i) {
            last = passOn(std::move(last));
        }
        if (fails) {
            first.sendError(io_error());
        } else {
            first.send(0);
        }
        run->expect(fails ? last.isError() : last.get() == run->size());
    }
    return Void();
}

ACTOR Future<Void> waitCounted(Future<Void> never, std::uint32_t* ends) {
    state Counted counted(ends);
    wait(never);
    return Void();
}

ACTOR Future<Void> waitHandled(Future<Void> never, std::uint32_t* ends) {
    state Counted counted(ends);
    try {
        wait(never);
    } catch (Error& e) {
        ++*ends;
        throw;
    }
    return Void();
}

ACTOR Future<Void> driveCancel(Run* run, bool withHandler) {
    state Promise<Void> never;
    state std::vector<Future<Void>> waiting;
    waiting.reserve(run->size());
    wait(delay(0));
    while (run->next()) {
        std::uint32_t ends = 0;
        for (int i = 0; i < run->size(); ++i) {
            waiting.push_back(withHandler ? waitHandled(never.getFuture(), &ends)
                                          : waitCounted(never.getFuture(), &ends));
        }
        waiting.clear();
        run->expect(ends == static_cast<std::uint32_t>(withHandler ? 2 * run->size() : run->size()));
    }
    return Void();
}

static std::size_t linkBytes() {
    return bench::bytes(passOn(Never()));
}

static std::size_t waitBytes(bool withHandler) {
    std::uint32_t ends = 0;
    return bench::bytes(withHandler ? waitHandled(Never(), &ends) : waitCounted(Never(), &ends));
}

static const bench::Style style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
                                {
                                    {"create_ready", driveCreateReady, [] { return bench::bytes(giveAtOnce(1)); }},
                                    {"await_ready", driveAwaitReady},
                                    {"chain", [](Run* run) { return driveChain(run, false); }, linkBytes},
                                    {"error", [](Run* run) { return driveChain(run, true); }, linkBytes},
                                    {"cancel", [](Run* run) { return driveCancel(run, false); }, [] { return waitBytes(false); }},
                                    {"cancel_handler", [](Run* run) { return driveCancel(run, true); }, [] { return waitBytes(true); }},
                                });

} // namespace MILLRACE_BACKEND_NAMESPACE
