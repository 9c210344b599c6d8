#pragma once
// onLoop: calls a function on another thread's loop and brings the result back.
//
//     Future<int> size = onLoop(storageLoop, [&] { return table.size(); });          // runs on storageLoop's thread
//     Future<Row> row = onLoop(storageLoop, [&table, key] { return table.read(key); }); // an actor there
//     use(co_await row);                                                              // continues on the caller's loop
//
// The function is moved to the other thread, called there once, and destroyed there. If it returns a Future, onLoop
// waits for that future there. The value or error then comes back to the caller's loop, which owns the future of
// onLoop. Until then the caller's loop does not end for lack of work, and must not be destroyed.
//
// Cancelling or dropping the returned future drops only the answer: the caller's loop does not wait for the call any
// more. The call continues on the other loop, so all objects to which it refers must stay valid.
// timeoutError(onLoop(...), seconds) drops the future like this when the time is over.
//
// If the other loop is destroyed before it has an answer, it drops the future of the function, and the caller gets
// broken_promise. Two loops may wait for each other.

#include "flow/loop/detail/remote_answer.h"
#include "flow/wait/member_wait.h"

#include <memory>
#include <optional>
#include <type_traits>

namespace flow {

/// The value type of onLoop(loop, f) if f() returns an R.
template <class R>
struct CallResult {
    using Value = std::conditional_t<std::is_void_v<R>, Void, R>;
    static constexpr bool kLater = false;
};
template <class T>
struct CallResult<Future<T>> {
    using Value = T;
    static constexpr bool kLater = true;
};

/// A call of onLoop on its way to the other loop and back. It belongs to the thread where it is at present.
template <class F>
class RemoteCall final : public RemoteAnswer<RemoteCall<F>, typename CallResult<std::invoke_result_t<F&>>::Value>,
                         public LoopOwned,
                         public FastAllocated<RemoteCall<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = typename CallResult<Returned>::Value;

public:
    RemoteCall(F&& call, TaskPriority priority) : RemoteCall::RemoteAnswer(priority), call_(std::move(call)) {
        LoopOwned::end = [](LoopOwned* owned) { static_cast<RemoteCall*>(owned)->endWithLoop(); };
    }
    void sendTo(Loop& target) noexcept {
        this->template postTo<&RemoteCall::arrive, &RemoteCall::refuse>(target, this->priority());
    }

private:
    // These functions run on the other thread.

    void arrive() {
        try {
            if constexpr (CallResult<Returned>::kLater) {
                Future<Value> future = (*call_)();
                FLOW_ASSERT(future.isValid(), "the call of onLoop gave an invalid Future");
                if (!future.isReady()) {
                    Loop::current().add(*this);
                    return step_.waitFor(std::move(future));
                }
                take(std::move(future));
            } else if constexpr (std::is_void_v<Returned>) {
                (*call_)();
                this->result.emplace(Void());
            } else {
                this->result.emplace((*call_)());
            }
        } catch (...) {
            this->failWithCaught();
        }
        finish();
    }
    void collect() {
        LoopOwned::unlink();
        try {
            take(step_.template take<Value>());
        } catch (...) {
            this->failWithCaught();
        }
        finish();
    }
    void take(Future<Value> future) {
        if (future.isError()) {
            fail(future.getError());
            this->exception_ = detail::keptException(future.cell());
        } else {
            this->result.emplace(std::move(future).takeValue());
        }
    }
    void endWithLoop() {
        step_.cancel();
        refuse();
    }
    void refuse() {
        fail(broken_promise());
        finish();
    }
    void fail(Error error) { this->result.emplace(ErrorOr<Value>::failed(error)); }
    void finish() noexcept {
        call_.reset(); // its captures belong to this thread
        this->answer();
    }

    std::optional<F> call_;
    MemberWait step_{*this, [](RemoteCall& self) { self.collect(); }};
};

/// Calls call() on the loop `target`, and returns a future of its result or of its error. Throws std::bad_alloc.
template <class F>
auto onLoop(Loop& target, F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
    auto remote = std::make_unique<RemoteCall<F>>(std::move(call), priority);
    auto answer = remote->future();
    remote.release()->sendTo(target);
    return answer;
}

} // namespace flow
