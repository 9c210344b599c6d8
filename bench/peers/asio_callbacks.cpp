// Boost.Asio with handlers. Each handler takes its memory from a list of free blocks, through the allocator that
// belongs to it: Asio's own cache holds two blocks.
//
// Asio has no priorities: its NET2 runs in the order of the posts, which is less work than ours.

#include "bench/free_list.h"
#include "bench/peers/asio.h"
#include "bench/producer.h"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <vector>

namespace bench::asio {
namespace {

using Error = boost::system::error_code;

template <class Handler>
auto recycled(Handler handler) {
    return net::bind_allocator(FreeListAllocator<void*>(), std::move(handler));
}

struct Delay {
    net::io_context& context;
    Run* run;

    void operator()() const {
        if (run->next())
            net::post(context, recycled(*this));
        else
            context.stop();
    }
};

void performDelay(Run* run) {
    net::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    OtherTimers others(context, run->size() - 1);
    net::post(context, recycled(Delay{context, run}));
    context.run();
}

/// A pass: N times `start`, each of which calls done() later; when all have, the next one.
template <class Derived>
class Passes {
public:
    explicit Passes(Run* run) : run(run) {}

    void perform() {
        net::post(context, [this] { begin(); });
        context.run();
    }

protected:
    void done() {
        if (++sum == run->size())
            begin();
    }

    Run* run;
    net::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    int sum = 0;

private:
    void begin() {
        run->expect(sum == 0 || sum == run->size());
        if (!run->next())
            return context.stop();
        sum = 0;
        static_cast<Derived*>(this)->pass();
    }
};

struct Net2 : Passes<Net2> {
    using Passes::Passes;

    void pass() {
        for (int i = 0; i < run->size(); ++i)
            net::post(context, recycled([this] { done(); }));
    }
};

/// The event for which all wait is a timer that never expires: to cancel it wakes them.
struct Callback : Passes<Callback> {
    using Passes::Passes;

    void pass() {
        for (int i = 0; i < run->size(); ++i)
            event.async_wait(recycled([this](Error) { done(); }));
        event.cancel();
    }

    Timer event{context, Timer::time_point::max()};
};

struct Cancel : Passes<Cancel> {
    explicit Cancel(Run* run) : Passes(run) { waiting.reserve(run->size()); }

    void pass() {
        for (int i = 0; i < run->size(); ++i) {
            waiting.emplace_back(context.get_executor(), Timer::time_point::max());
            waiting.back().async_wait(recycled([this](Error) { done(); }));
        }
        waiting.clear();
    }

    std::vector<Timer> waiting;
};

/// Expired when the loop comes round: each is set and fired, none makes the loop sleep.
struct Timers : Passes<Timers> {
    explicit Timers(Run* run) : Passes(run) { waiting.reserve(run->size()); }

    void pass() {
        auto now = std::chrono::steady_clock::now();
        waiting.clear();
        for (int i = 1; i <= run->size(); ++i) {
            waiting.emplace_back(context.get_executor(), now + std::chrono::nanoseconds(i));
            waiting.back().async_wait(recycled([this](Error) { done(); }));
        }
    }

    std::vector<Timer> waiting;
};

/// Many in each turn of the loop: the handler of a cancelled timer runs in the next one, which also asks the poller.
struct TimerCancel {
    static constexpr int kTogether = 64;

    explicit TimerCancel(Run* run) : run(run), others(context, run->size() - 1) {}

    void perform() {
        net::post(context, [this] { turn(); });
        context.run();
    }

    void turn() {
        for (int i = 0; i < kTogether; ++i) {
            if (!run->next())
                return context.stop();
            Timer dropped(context, OtherTimers::seconds(laterSeconds(random)));
            dropped.async_wait(recycled([](Error) {}));
        }
        net::post(context, recycled([this] { turn(); }));
    }

    Run* run;
    net::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    OtherTimers others;
    flow::DeterministicRandom random{11};
};

/// As TimerCancel.
struct TimerRandom {
    explicit TimerRandom(Run* run) : run(run) { waiting.reserve(run->size()); }

    void perform() {
        for (int i = 0; i < run->size(); ++i)
            start(waiting.emplace_back(context));
        net::post(context, [this] { turn(); });
        context.run();
    }

    void turn() {
        for (int i = 0; i < TimerCancel::kTogether; ++i) {
            if (!run->next())
                return context.stop();
            start(waiting[random.randomInt(0, run->size())]);
        }
        net::post(context, recycled([this] { turn(); }));
    }

    void start(Timer& timer) {
        timer.expires_at(later += std::chrono::microseconds(1));
        timer.async_wait(recycled([](Error) {}));
    }

    Run* run;
    net::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    std::vector<Timer> waiting;
    Timer::time_point later = Timer::clock_type::now() + std::chrono::seconds(30);
    flow::DeterministicRandom random{13};
};

struct Stream : Passes<Stream> {
    explicit Stream(Run* run) : Passes(run), numbers(context.get_executor(), run->size()) {}

    void pass() {
        for (int i = 0; i < run->size(); ++i)
            run->expect(numbers.try_send(Error(), 1));
        receive();
    }

    void receive() {
        numbers.async_receive(recycled([this](Error, int number) {
            sum += number;
            if (sum < run->size())
                return receive();
            sum -= number;
            done();
        }));
    }

    net::experimental::channel<Executor, void(Error, int)> numbers;
};

/// Here other threads post, so the context has its locks; the hint says that one thread runs it.
void performPost(Run* run) {
    net::io_context context(1);
    auto guard = net::make_work_guard(context);
    int received = 0;
    Producer producer([run, &context, to = &received] {
        for (int i = 0; i < run->size(); ++i)
            net::post(context, [run, &context, to] {
                if (++*to == run->size())
                    context.stop();
            });
    });
    while (run->next()) {
        received = 0;
        context.restart();
        producer.produce();
        context.run();
    }
}

template <class Work>
void perform(Run* run) {
    Work(run).perform();
}

const PeerStyle style("asio", {
                                  {"DELAY", performDelay},
                                  {"NET2", perform<Net2>},
                                  {"callback", perform<Callback>},
                                  {"cancel", perform<Cancel>},
                                  {"stream", perform<Stream>},
                                  {"timer_cancel", perform<TimerCancel>},
                                  {"timer_random", perform<TimerRandom>},
                                  {"timers", perform<Timers>},
                                  {"post", performPost},
                              });

} // namespace
} // namespace bench::asio
