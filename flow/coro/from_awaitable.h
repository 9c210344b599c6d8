#pragma once
// fromAwaitable: makes a future of another library's C++20 awaitable. Code of every style can wait for the future.
//
//     std::size_t n = co_await fromAwaitable(socket.async_read(buffer));
//     auto first = co_await race(fromAwaitable(other.receive()), delay(1.0));
//     Future<int> answer = fromAwaitable(query(), [&source] { source.request_stop(); });
//
// The awaitable is any object that co_await takes in a coroutine without an await_transform: it has await_ready,
// await_suspend and await_resume, or an operator co_await. The awaitable is moved; if it cannot be moved, pass a
// function that returns it. The wait begins immediately. The result is the value that await_resume returns, or the
// exception that await_resume throws. A reference is copied, void becomes Void.
//
// Threads. The awaitable may resume its handle on any thread. On the thread that called fromAwaitable(), the future is
// ready before resume() returns, and its waiters run inside resume(). On another thread, the result goes through the
// inbox of the first thread's loop. This loop does not end for lack of work while code waits for the future.
//
// Cancel safety. A C++20 awaitable has no way to be cancelled. If the future is dropped or cancelled, the future ends
// immediately. The second argument says what happens to the awaitable:
//   fromAwaitable(a)                      The awaitable runs on. When it resumes its handle, the result is dropped.
//                                         The objects to which the awaitable refers must outlive it. An awaitable
//                                         that never resumes its handle leaks.
//   fromAwaitable(a, [] { ... })          The awaitable runs on too, but the loop's thread calls the function, which
//                                         asks for an early end. The function must not throw.
//   fromAwaitable(a, DestroyOnCancel())   The awaitable is destroyed: its destructor must withdraw the request. It
//                                         must resume its handle only on the loop's thread.
//
// Throws std::bad_alloc, and exceptions from moving the awaitable.

#include "flow/loop/detail/remote_answer.h"

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace flow {

/// The second argument for an awaitable with a destructor that withdraws its request.
struct DestroyOnCancel {};

namespace coro {

/// Returns the awaiter of `awaitable`, as co_await makes it.
template <class A>
decltype(auto) awaiterOf(A&& awaitable) {
    if constexpr (requires { std::forward<A>(awaitable).operator co_await(); })
        return std::forward<A>(awaitable).operator co_await();
    else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); })
        return operator co_await(std::forward<A>(awaitable));
    else
        return std::forward<A>(awaitable);
}
template <class A>
using AwaitResult = decltype(awaiterOf(std::declval<A>()).await_resume());

/// The coroutine that awaits the awaitable. It starts when its handle is resumed. Its frame is destroyed at its end.
struct ForeignWait {
    struct promise_type {
        ForeignWait get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    std::coroutine_handle<> handle;
};

template <class A, class = void>
struct MadeAwaitable : std::type_identity<A> {};
template <class A>
struct MadeAwaitable<A, std::enable_if_t<std::is_invocable_v<A&>>> : std::type_identity<std::invoke_result_t<A&>> {};

template <class A>
class ForeignCall final
    : public RemoteAnswer<ForeignCall<A>,
                          std::conditional_t<std::is_void_v<AwaitResult<typename MadeAwaitable<A>::type>>, Void,
                                             std::remove_cvref_t<AwaitResult<typename MadeAwaitable<A>::type>>>>,
      public FastAllocated<ForeignCall<A>> {
    using Made = typename MadeAwaitable<A>::type;
    using Result = AwaitResult<Made>;

public:
    /// Awaits the awaitable, and gives its result to `call`, which must exist when this coroutine is first resumed.
    static ForeignWait wait(ForeignCall* call, A awaitable) {
        try {
            if constexpr (std::is_void_v<Result>) {
                co_await make(awaitable);
                call->result.emplace(Void());
            } else {
                call->result.emplace(co_await make(awaitable));
            }
        } catch (...) {
            call->failWithCaught();
        }
        call->answerNow();
    }

private:
    static Made make(A& awaitable) {
        if constexpr (std::is_invocable_v<A&>)
            return awaitable();
        else
            return std::move(awaitable);
    }
};

} // namespace coro

template <class A, class OnCancel>
auto fromAwaitable(A awaitable, OnCancel onCancel) {
    using Call = coro::ForeignCall<A>;
    auto call = std::make_unique<Call>();
    coro::ForeignWait wait = Call::wait(call.get(), std::move(awaitable));
    try {
        auto future = [&] {
            if constexpr (std::is_same_v<OnCancel, DestroyOnCancel>)
                return call->future([owned = call.get(), handle = wait.handle] {
                    handle.destroy();
                    delete owned;
                });
            else
                return call->future(std::move(onCancel));
        }();
        call.release();
        wait.handle.resume();
        return future;
    } catch (std::bad_alloc const&) {
        wait.handle.destroy();
        throw;
    }
}
template <class A>
auto fromAwaitable(A awaitable) {
    return fromAwaitable(std::move(awaitable), [] {});
}

} // namespace flow
