// bench/actors/streams.actor.cpp as a person writes it with co_await. Propagate as in tasks.cpp.

#include "bench/run.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"

namespace {

using namespace flow;
using bench::Counted;
using bench::Run;

Future<int> sumOf(FutureStream<int> numbers, int count, Propagate = {}) {
    int sum = 0;
    for (int i = 0; i < count; ++i)
        sum += co_await numbers;
    co_return sum;
}

Future<Void> driveStream(Run* run) {
    PromiseStream<int> numbers;
    while (run->next()) {
        for (int i = 0; i < run->size(); ++i)
            numbers.send(1);
        int sum = co_await sumOf(numbers.getFuture(), run->size());
        run->expect(sum == run->size());
    }
}

Future<Void> driveStreamWaiting(Run* run) {
    PromiseStream<int> numbers;
    while (run->next()) {
        Future<int> sum = sumOf(numbers.getFuture(), run->size());
        for (int i = 0; i < run->size(); ++i)
            numbers.send(1);
        int found = co_await sum;
        run->expect(found == run->size());
    }
}

std::size_t sumBytes() {
    return bench::bytes(sumOf(PromiseStream<int>().getFuture(), 0));
}

const bench::Style style("coroutine", {
                                          {"stream", driveStream, sumBytes},
                                          {"stream_waiting", driveStreamWaiting, sumBytes},
                                      });

} // namespace
