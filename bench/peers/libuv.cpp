// libuv. It runs the callbacks of handles and has no queue of work of its own: so there is no NET2, nothing to wait for
// but timers, and what continues later is an idle handle. Handles are made before a pass and used again, as its users
// do. Its clock counts milliseconds: timers that are due at once are set to 0.

#include "bench/producer.h"
#include "bench/run.h"

#include <functional>
#include <mutex>
#include <uv.h>
#include <vector>

namespace {

using bench::Run;

/// Closes its handles at the end, which must therefore be declared before.
class Loop {
public:
    Loop() { uv_loop_init(&loop_); }
    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;
    ~Loop() {
        uv_walk(&loop_, [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); }, nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
    uv_loop_t* get() { return &loop_; }

private:
    uv_loop_t loop_;
};

using Timers = std::vector<uv_timer_t>;

/// Milliseconds from now; see laterSeconds().
std::uint64_t later(flow::DeterministicRandom& random) {
    return static_cast<std::uint64_t>(bench::laterSeconds(random) * 1000);
}

/// Timers that stay: what stands in the queue beside the one that is measured.
void setOthers(Timers& timers, Loop& loop) {
    flow::DeterministicRandom random(7);
    for (uv_timer_t& timer : timers) {
        uv_timer_init(loop.get(), &timer);
        uv_timer_start(&timer, [](uv_timer_t*) {}, later(random), 0);
    }
}

void performDelay(Run* run) {
    Timers others(run->size() - 1);
    uv_idle_t idle;
    Loop loop;
    setOthers(others, loop);
    uv_idle_init(loop.get(), &idle);
    idle.data = run;
    uv_idle_start(&idle, [](uv_idle_t* handle) {
        if (!static_cast<Run*>(handle->data)->next())
            uv_stop(handle->loop);
    });
    loop.run();
}

void performTimerCancel(Run* run) {
    Timers others(run->size() - 1);
    uv_timer_t dropped;
    Loop loop;
    setOthers(others, loop);
    uv_timer_init(loop.get(), &dropped);
    flow::DeterministicRandom random(11);
    while (run->next()) {
        uv_timer_start(&dropped, [](uv_timer_t*) {}, later(random), 0);
        uv_timer_stop(&dropped);
    }
}

void performTimerRandom(Run* run) {
    Timers waiting(run->size());
    Loop loop;
    double milliseconds = 30000;
    auto start = [&](uv_timer_t& timer) {
        uv_timer_start(&timer, [](uv_timer_t*) {}, static_cast<std::uint64_t>(milliseconds += 1e-3), 0);
    };
    for (uv_timer_t& timer : waiting) {
        uv_timer_init(loop.get(), &timer);
        start(timer);
    }
    flow::DeterministicRandom random(13);
    while (run->next())
        start(waiting[random.randomInt(0, run->size())]);
}

void performTimers(Run* run) {
    Timers timers(run->size());
    Loop loop;
    int sum = 0;
    for (uv_timer_t& timer : timers) {
        uv_timer_init(loop.get(), &timer);
        timer.data = &sum;
    }
    while (run->next()) {
        sum = 0;
        for (uv_timer_t& timer : timers)
            uv_timer_start(&timer, [](uv_timer_t* handle) { ++*static_cast<int*>(handle->data); }, 0, 0);
        loop.run();
        run->expect(sum == run->size());
    }
}

/// What its documentation says: a queue with a lock, and a handle that wakes the loop, once for many calls.
class Inbox {
public:
    using Call = std::function<void()>;

    explicit Inbox(Loop& loop, uv_async_t& awake) : awake_(awake) {
        uv_async_init(loop.get(), &awake, [](uv_async_t* handle) { static_cast<Inbox*>(handle->data)->runAll(); });
        awake.data = this;
    }

    void post(Call call) {
        {
            std::lock_guard lock(mutex_);
            calls_.push_back(std::move(call));
        }
        uv_async_send(&awake_);
    }

    void stopLoop() { uv_stop(awake_.loop); }

private:
    void runAll() {
        {
            std::lock_guard lock(mutex_);
            calls_.swap(taken_);
        }
        for (Call& call : taken_)
            call();
        taken_.clear();
    }

    std::mutex mutex_;
    std::vector<Call> calls_;
    std::vector<Call> taken_;
    uv_async_t& awake_;
};

void performPost(Run* run) {
    uv_async_t awake;
    Loop loop;
    Inbox inbox(loop, awake);
    struct Received {
        Run* run;
        Inbox* inbox;
        int count;
    } received{run, &inbox, 0};
    bench::Producer producer([to = &received] {
        for (int i = 0; i < to->run->size(); ++i)
            to->inbox->post([to] {
                if (++to->count == to->run->size())
                    to->inbox->stopLoop();
            });
    });
    while (run->next()) {
        received.count = 0;
        producer.produce();
        loop.run();
    }
}

const bench::PeerStyle style("libuv", {
                                          {"DELAY", performDelay},
                                          {"timer_cancel", performTimerCancel},
                                          {"timer_random", performTimerRandom},
                                          {"timers", performTimers},
                                          {"post", performPost},
                                      });

} // namespace
