// Streams: numbers that wait for their reader, and a reader that waits for them.

#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Counted;
using bench::Run;

ACTOR Future<int> sumOf(FutureStream<int> numbers, int count) {
    state int sum = 0;
    state int received = 0;
    while (received < count) {
        int number = waitNext(numbers);
        sum += number;
        ++received;
    }
    return sum;
}

ACTOR Future<Void> driveStream(Run* run) {
    state PromiseStream<int> numbers;
    while (run->next()) {
        for (int i = 0; i < run->size(); ++i) {
            numbers.send(1);
        }
        int sum = wait(sumOf(numbers.getFuture(), run->size()));
        run->expect(sum == run->size());
    }
    return Void();
}

ACTOR Future<Void> driveStreamWaiting(Run* run) {
    state PromiseStream<int> numbers;
    while (run->next()) {
        state Future<int> sum = sumOf(numbers.getFuture(), run->size());
        for (int i = 0; i < run->size(); ++i) {
            numbers.send(1);
        }
        int found = wait(sum);
        run->expect(found == run->size());
    }
    return Void();
}

static std::size_t sumBytes() {
    return bench::bytes(sumOf(PromiseStream<int>().getFuture(), 0));
}

static const bench::Style style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
                                {
                                    {"stream", driveStream, sumBytes},
                                    {"stream_waiting", driveStreamWaiting, sumBytes},
                                });

} // namespace MILLRACE_BACKEND_NAMESPACE
