#pragma once
// Boost.Fiber on our loop: each ready boost::fibers::fiber becomes a step of its thread's loop. Code with Boost's
// mutexes, condition variables, channels and futures runs unchanged, beside actors and coroutines.
//
//     RealLoop loop;                                    // or SimLoop
//     fiber::useBoostFibers();                          // once on each thread with such fibers
//     boost::fibers::buffered_channel<int> numbers(8);
//     boost::fibers::fiber producer([&] { ... numbers.push(1); boost::this_fiber::sleep_for(1s); ... });
//
//     Future<int> sum = fiber::spawnBoost([&] { ... return numbers.value_pop(); });   // for our code
//     int answer = fiber::boostWait(compute());                                       // our future, in a Boost fiber
//     loop.run(sum);
//
// Order. The steps of fibers have the priority DefaultDelay, and run in the order in which the fibers became ready. So
// on a simulated loop a program runs the same each time.
//
// Time. Boost.Fiber reads std::chrono::steady_clock for sleeps and timeouts. So this library replaces
// steady_clock::now() in each program that links it: on a thread with a simulated loop, now() gives the loop's time to
// all code. On other threads, now() gives the machine's time. In a simulation, sleep_for() and wait_for() take exactly
// their duration of virtual time, to the nanosecond for up to some 100 days.
//
// Code that waits for a fiber outside of a Boost fiber, such as fiber.join() in main(), runs the loop during the wait.
// If nothing is left that could end the wait, a simulated loop ends the program with a message. A real loop waits for
// other threads. stop() of the loop does not end the wait. Steps of this loop must wait for futures instead.
//
// Other threads may wake the fibers, for example through Boost's mutexes, while the loop exists. Make fibers on a
// thread with a loop. They must end before the loop is destroyed. No fiber changes its thread. Fibers cannot be
// cancelled: a fiber of spawnBoost() runs on when its future is dropped. Boost makes the stacks: 128 KiB without guard
// pages, unless the fiber gets an allocator, such as boost::fibers::protected_fixedsize_stack.

#include "flow/core/callback.h"
#include "flow/core/error_or.h"
#include "flow/core/future.h"

#include <boost/fiber/context.hpp>
#include <boost/fiber/fiber.hpp>
#include <type_traits>
#include <utility>

namespace flow::fiber {

/// Runs the Boost fibers of this thread on its loop. Call it before the first fiber; a second call does nothing. Throws
/// std::bad_alloc.
void useBoostFibers();

/// Runs function() on a Boost fiber, behind the ready steps. A void function gives Future<Void>. Throws std::bad_alloc.
template <class F>
auto spawnBoost(F function) {
    using Returned = std::invoke_result_t<F&>;
    using T = std::conditional_t<std::is_void_v<Returned>, Void, Returned>;
    Promise<T> promise;
    Future<T> future = promise.getFuture();
    boost::fibers::fiber([function = std::move(function), promise = std::move(promise)]() mutable {
        ErrorOr<T> result;
        try {
            if constexpr (std::is_void_v<Returned>) {
                function();
                result = Void();
            } else {
                result = function();
            }
        } catch (...) {
            result = ErrorOr<T>::failed(flow::detail::keepCaught(promise));
        }
        result.isError() ? promise.sendError(result.getError()) : promise.send(std::move(result).get());
    }).detach();
    return future;
}

namespace detail {

/// Wakes the waiting Boost fiber.
template <class T>
struct BoostWaker final : Callback<T> {
    boost::fibers::waker waker = boost::fibers::context::active()->create_waker();

    void fire(T const&) override { waker.wake(); }
    void error(Error) override { waker.wake(); }
};

} // namespace detail

/// Returns the value of the future, or throws its error. Must be called in a Boost fiber.
template <class T>
T boostWait(Future<T> future) {
    if (!future.isReady()) {
        detail::BoostWaker<T> waker;
        Future<T>(future).addCallbackAndClear(&waker);
        boost::fibers::context::active()->suspend();
    }
    if (future.isError())
        flow::detail::throwErrorOf(future.cell());
    return flow::detail::takeValue<T>(std::move(future).release());
}

} // namespace flow::fiber
