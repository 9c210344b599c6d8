// Boost.Asio with coroutines. An operation is awaited as `deferred`, which needs no frame of its own as use_awaitable
// does, and gives an error as a value where one is expected (as_tuple), so that nothing is thrown.

#include "bench/peers/asio.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <vector>

namespace bench::asio {
namespace {

template <class T>
using Task = net::awaitable<T, Executor>;

constexpr auto kAsValue = net::as_tuple(net::deferred);

// actorc: allow A0702 it outlives the coroutines that run on it
struct Context : net::io_context {
    using io_context::io_context;
};

/// Something to wait for: Asio's documentation has a timer that never expires for it.
class Event {
public:
    explicit Event(Context& context) : timer_(context, Timer::time_point::max()) {}

    auto wait() { return timer_.async_wait(kAsValue); }
    void set() { timer_.cancel(); }

private:
    Timer timer_;
};

using Drive = Task<void> (*)(Run*, Context&);

void perform(Run* run, int others, Drive drive) {
    Context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    OtherTimers timers(context, others);
    net::co_spawn(context, drive(run, context), [&](std::exception_ptr) { context.stop(); });
    context.run();
}

Task<void> driveDelay(Run* run, Context& context) {
    while (run->next())
        co_await net::post(context, net::deferred);
}

/// Starts N coroutines of start(i) and waits for all.
template <class Start>
Task<void> waitForAll(int count, Context& context, Start start) {
    Event all(context);
    int done = 0;
    for (int i = 0; i < count; ++i)
        net::co_spawn(context, start(i), [&](std::exception_ptr) {
            if (++done == count)
                all.set();
        });
    co_await all.wait();
}

Task<void> increment(Context& context, int* sum) {
    co_await net::post(context, net::deferred);
    ++*sum;
}

Task<void> driveNet2(Run* run, Context& context) {
    while (run->next()) {
        int sum = 0;
        co_await waitForAll(run->size(), context, [&](int) { return increment(context, &sum); });
        run->expect(sum == run->size());
    }
}

Task<void> follow(Event& signal, int* sum) {
    co_await signal.wait();
    ++*sum;
}

Task<void> send(Event& signal) {
    signal.set();
    co_return;
}

/// The sender is started last, so that all others wait.
Task<void> driveCallback(Run* run, Context& context) {
    while (run->next()) {
        int sum = 0;
        Event signal(context);
        co_await waitForAll(run->size() + 1, context,
                            [&](int i) { return i < run->size() ? follow(signal, &sum) : send(signal); });
        run->expect(sum == run->size());
    }
}

Task<int> giveAtOnce(int number, Event& rarely) {
    if (number < 0)
        co_await rarely.wait();
    co_return number;
}

Task<void> driveCreateReady(Run* run, Context& context) {
    Event never(context);
    int sum = 0;
    while (run->next())
        sum += co_await giveAtOnce(1, never);
    run->expect(sum > 0);
}

Task<int> passOn(int depth, Event& signal) {
    if (depth == 0) {
        co_await signal.wait();
        co_return 0;
    }
    co_return co_await passOn(depth - 1, signal) + 1;
}

Task<void> driveChain(Run* run, Context& context) {
    while (run->next()) {
        Event signal(context);
        net::post(context, [&] { signal.set(); });
        int depth = co_await passOn(run->size(), signal);
        run->expect(depth == run->size());
    }
}

/// Waits for an event of its own: to cancel one of many waits of a timer takes a walk over them all.
Task<void> waitCounted(Context& context, std::uint32_t* ends) {
    co_await net::this_coro::throw_if_cancelled(false);
    Counted counted(ends);
    Event never(context);
    co_await never.wait();
}

/// A coroutine is cancelled through a signal that it was started with.
Task<void> driveCancel(Run* run, Context& context) {
    std::vector<net::cancellation_signal> signals(run->size());
    while (run->next()) {
        Event all(context);
        std::uint32_t ends = 0;
        int done = 0;
        for (net::cancellation_signal& signal : signals)
            net::co_spawn(context, waitCounted(context, &ends),
                          net::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr) {
                              if (++done == run->size())
                                  all.set();
                          }));
        net::post(context, [&] {
            for (net::cancellation_signal& signal : signals)
                signal.emit(net::cancellation_type::terminal);
        });
        co_await all.wait();
        run->expect(ends == static_cast<std::uint32_t>(run->size()));
    }
}

Task<void> driveStream(Run* run, Context& context) {
    net::experimental::channel<Executor, void(boost::system::error_code, int)> numbers(context.get_executor(),
                                                                                       run->size());
    while (run->next()) {
        int sum = 0;
        for (int i = 0; i < run->size(); ++i)
            run->expect(numbers.try_send(boost::system::error_code(), 1));
        for (int i = 0; i < run->size(); ++i)
            sum += co_await numbers.async_receive(net::deferred);
        run->expect(sum == run->size());
    }
}

Task<void> pause(Context& context, Timer::time_point deadline) {
    Timer timer(context, deadline);
    co_await timer.async_wait(kAsValue);
}

Task<void> driveTimers(Run* run, Context& context) {
    while (run->next()) {
        auto now = std::chrono::steady_clock::now();
        co_await waitForAll(run->size(), context,
                            [&](int i) { return pause(context, now + std::chrono::nanoseconds(i + 1)); });
    }
}

template <Drive drive>
void alone(Run* run) {
    perform(run, 0, drive);
}
template <Drive drive>
void amongTimers(Run* run) {
    perform(run, run->size() - 1, drive);
}

const PeerStyle style("asio-awaitable", {
                                            {"DELAY", amongTimers<driveDelay>},
                                            {"NET2", alone<driveNet2>},
                                            {"callback", alone<driveCallback>},
                                            {"create_ready", alone<driveCreateReady>},
                                            {"chain", alone<driveChain>},
                                            {"cancel", alone<driveCancel>},
                                            {"stream", alone<driveStream>},
                                            {"timers", alone<driveTimers>},
                                        });

} // namespace
} // namespace bench::asio
