// A class that is declared in an .actor.h, with actors defined here, in the header, and templates; users of it.
#include "worker.actor.h"
#include "flow/sim/sim_loop.h"
#include "flow/actorcompiler.h" // This must be the last #include.

#ifdef NO_INTELLISENSE
class Void;
template <class> class Future; class Error;
#endif
namespace apart {
class Arena {};
class Void;
} // namespace apart

ACTOR Future<Void> Worker::serve(Worker* self) {
    state FutureStream<Request> in = self->requests.getFuture();
    loop {
        state Request request = waitNext(in);
        self->busy.set(true);
        try {
            if (request.reply.getFutureReferenceCount() == 0)
                throw operation_obsolete();
            wait(delay(self->seconds));
            if (request.id < 0)
                throw client_invalid_operation();
            ++self->total;
            request.reply.send(2 * request.id);
        } catch (Error& e) {
            if (e.code() == error_code_actor_cancelled)
                throw;
            printf("request %d: %s\n", request.id, e.name());
            if (e.code() != error_code_operation_obsolete)
                request.reply.sendError(e);
        }
        self->busy.set(false);
    }
}

ACTOR Future<Void> client(Reference<Worker> worker) {
    state std::vector<Future<Void>> answers;
    state Future<int> dropped;
    state Future<int> bad;
    answers.push_back(expect(worker->ask(1), 2, "one"));
    dropped = worker->ask(2);
    dropped = Future<int>();
    bad = worker->ask(-3);
    answers.push_back(expect(worker->ask(4), 8, "four"));
    wait(waitForAll(answers));
    printf("answered %d at %.1f, bad is %s\n", worker->answered(), now(), bad.getError().name());
    wait(worker->idle());
    Optional<int> late = wait(timeout(worker->ask(5), 0.5));
    printf("late is there: %d\n", late.present());
    return Void();
}

int main() {
    flow::SimLoop simulation;
    Reference<Worker> worker = makeReference<Worker>(1.0);
    Future<Void> f = stopAfter(client(worker));
    g_network->run();
    Future<int> unanswered = worker->ask(6);
    worker.clear();
    printf("unanswered: %s\n", unanswered.getError().name());
    return f.isError();
}
