#include "flow/coro/coroutine.h"
#include "flow/threads/thread_promise.h"
#include "net/postgres/detail/libpq.h"

#include <atomic>
#include <csignal>
#include <thread>

namespace flow::net::postgres::internals {

#ifdef LIBPQ_HAS_ASYNC_CANCEL

Future<Void> cancelAtServer(PGconn* connection) {
    std::unique_ptr<PGcancelConn, decltype(&PQcancelFinish)> cancel(PQcancelCreate(connection), PQcancelFinish);
    if (cancel && PQcancelStart(cancel.get()) != 0)
        co_await pollToEnd([c = cancel.get()] { return PQcancelPoll(c); },
                           [c = cancel.get()] { return PQcancelSocket(c); });
}

#else

namespace {
/// PQcancel() blocks as long as the server does not answer, perhaps forever. So it has its own threads: the end of a
/// loop waits for the threads of runBlocking().
constexpr int kMostThreads = 8;
std::atomic<int> threads = 0;
} // namespace

Future<Void> cancelAtServer(PGconn* connection) {
    ThreadPromise<Void> promise;
    Future<Void> done = promise.getFuture();
    std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(PQgetCancel(connection), PQfreeCancel);
    if (!cancel || threads.load() >= kMostThreads) {
        promise.send(Void());
        return done;
    }
    auto call = [cancel = std::move(cancel), promise = std::move(promise)]() mutable {
        char reason[256];
        PQcancel(cancel.get(), reason, sizeof reason);
        --threads;
        promise.send(Void());
    };
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // the thread inherits it
    ++threads;
    try {
        std::thread(std::move(call)).detach(); // nondeterminism: a simulated loop has no connection
    } catch (...) {                            // the system has no thread, and the promise is broken
        --threads;
        done = Void();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return done;
}

#endif

} // namespace flow::net::postgres::internals
