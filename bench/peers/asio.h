#pragma once
// What both styles of Boost.Asio share.
//
// For one thread Asio's documentation names a concurrency hint that leaves out all locks (UNSAFE); it is used wherever
// one thread is alone. Executors and timers name their types, so that nothing is erased.

#include "bench/run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <vector>

namespace bench::asio {

namespace net = boost::asio;

using Executor = net::io_context::executor_type;
using Timer =
    net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>, Executor>;

/// Timers that stay in the queue, beside the measured one, until the benchmark ends.
class OtherTimers {
public:
    OtherTimers(net::io_context& context, int count) {
        flow::DeterministicRandom random(7);
        timers_.reserve(count);
        for (int i = 0; i < count; ++i) {
            timers_.emplace_back(context.get_executor(), seconds(laterSeconds(random)));
            timers_.back().async_wait([](boost::system::error_code) {});
        }
    }

    static std::chrono::steady_clock::duration seconds(double number) {
        return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(number));
    }

private:
    std::vector<Timer> timers_;
};

} // namespace bench::asio
