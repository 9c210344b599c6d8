// The composed benchmark in the styles that need no actorc, and its floors.

#include "bench/net/composed_loop.h"
#include "flow/coro/coroutine.h"

#include <coroutine>
#include <exception>
#include <span>
#if defined(MILLRACE_FIBER)
#include "flow/fiber/fiber.h"
#endif

namespace {

using namespace bench::composed;
using bench::PeerStyle;
using bench::Run;

const PeerStyle callbacks("callback", {{"composed-socket", performComposed<CallbackOperation, Socket>},
                                       {"composed-tls", performComposed<CallbackOperation, Tls>},
                                       {"composed-loop", performOnLoop<CallbackOperation>}});
const PeerStyle coroutines("coroutine", {{"composed-socket", performComposed<CoroutineOperation, Socket>},
                                         {"composed-tls", performComposed<CoroutineOperation, Tls>},
                                         {"composed-loop", performOnLoop<CoroutineOperation>}});

#if defined(MILLRACE_FIBER)
template <class Stream>
std::size_t readInFiber(Stream& from, std::size_t size) {
    std::size_t got = 0;
    while (got != size)
        got += flow::fiber::wait(from.readSome(std::span(room).first(size - got)));
    return got;
}
template <class Stream>
std::size_t requestInFiber(Stream& with, std::size_t reads) {
    std::size_t got = 0;
    for (std::size_t i = 0; i < reads; ++i)
        got += flow::fiber::wait(with.readSome(std::span(room)));
    return got;
}
template <class Stream, int Level>
Future<std::size_t> beginFiber(Stream& stream) {
    return flow::fiber::spawn([&stream] {
        if constexpr (Level == 2)
            return readInFiber(stream, readsOf(2) * Socket::kChunk);
        std::size_t got = 0;
        for (std::size_t i = 0; i < (Level == 4 ? kRequests : 1); ++i)
            got += requestInFiber(stream, Level == 1 ? 1 : kRequest);
        return got;
    });
}
template <class Stream, int Level>
using FiberOperation = FutureOperation<Stream, Level, beginFiber<Stream, Level>>;
const PeerStyle fibers("fiber", {{"composed-socket", performComposed<FiberOperation, Socket>},
                                 {"composed-tls", performComposed<FiberOperation, Tls>}});
#endif

// The floor: a function pointer, and a bare coroutine, called out of the same queue.

class BareCallback : flow::WaiterNode {
public:
    BareCallback() { resume = call; }
    void start(std::size_t times) {
        left_ = times;
        workQueue.push(*this);
    }
    bool hasEnded() const { return left_ == 0; }

private:
    static void call(flow::WaiterNode* waiter) {
        auto* self = static_cast<BareCallback*>(waiter);
        if (--self->left_ != 0)
            workQueue.push(*self);
    }
    std::size_t left_ = 0;
};

void performBareCallback(Run* run) {
    BareCallback bare;
    std::uint64_t work = 0;
    while (run->next()) {
        bare.start(readsOf(run->size()));
        work = workQueue.runAll();
        run->expect(bare.hasEnded());
    }
    run->setWork(work);
}

/// Its promise is the node; it goes to sleep at its end, and is started anew.
struct BareCoroutine {
    struct promise_type : flow::WaiterNode {
        promise_type() {
            resume = [](flow::WaiterNode* waiter) {
                std::coroutine_handle<promise_type>::from_promise(*static_cast<promise_type*>(waiter)).resume();
            };
        }
        BareCoroutine get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};
struct InQueue {
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<BareCoroutine::promise_type> self) const {
        workQueue.push(self.promise());
    }
    void await_resume() const {}
};

BareCoroutine sleepTimes(std::size_t times, std::size_t* slept) {
    for (std::size_t i = 0; i < times; ++i) {
        co_await InQueue();
        ++*slept;
    }
}

void performBareCoroutine(Run* run) {
    std::uint64_t work = 0;
    while (run->next()) {
        std::size_t slept = 0;
        workQueue.push(sleepTimes(readsOf(run->size()), &slept).handle.promise());
        work = workQueue.runAll();
        run->expect(slept == readsOf(run->size()));
    }
    run->setWork(work);
}

const PeerStyle floorCallbacks("floor-callback",
                               {{"composed-socket", performBareCallback}, {"composed-tls", performBareCallback}});
const PeerStyle floorCoroutines("floor-coroutine",
                                {{"composed-socket", performBareCoroutine}, {"composed-tls", performBareCoroutine}});

} // namespace
