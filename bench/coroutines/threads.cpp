// bench/actors/threads.actor.cpp as a person writes it with co_await.

#include "bench/producer.h"
#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"

namespace {

using namespace flow;
using bench::Run;

struct Received {
    int count = 0;
    Promise<Void> all;
};

Future<Void> drivePost(Run* run) {
    WorkGuard guard(Loop::current());
    Received received;
    bench::Producer producer([here = &Loop::current(), run, to = &received] {
        for (int i = 0; i < run->size(); ++i)
            here->post([run, to] {
                if (++to->count == run->size())
                    to->all.send(Void());
            });
    });
    while (run->next()) {
        received = Received();
        Future<Void> done = received.all.getFuture();
        producer.produce();
        co_await done;
    }
}

const bench::Style style("coroutine", {{"post", drivePost, [] { return std::size_t{0}; }}});

} // namespace
