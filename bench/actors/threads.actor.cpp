// Calls that come from another thread.

#include "bench/producer.h"
#include "bench/run.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace flow;
using bench::Run;

struct Received {
    int count = 0;
    Promise<Void> all;
};

ACTOR Future<Void> drivePost(Run* run) {
    state WorkGuard guard(Loop::current());
    state Received received;
    state bench::Producer producer([here = &Loop::current(), run, to = &received] {
        for (int i = 0; i < run->size(); ++i) {
            here->post([run, to] {
                if (++to->count == run->size()) {
                    to->all.send(Void());
                }
            });
        }
    });
    while (run->next()) {
        received = Received();
        Future<Void> done = received.all.getFuture();
        producer.produce();
        wait(done);
    }
    return Void();
}

static const bench::Style style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)), {{"post", drivePost, [] { return std::size_t{0}; }}});

} // namespace MILLRACE_BACKEND_NAMESPACE
