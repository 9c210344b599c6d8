#pragma once
// ThreadPromise<T>: a future of this loop that any thread can complete. It is for threads and callbacks of other
// libraries.
//
//     Future<int> lookUp(Resolver& resolver, std::string name) {
//         ThreadPromise<int> promise;                           // on the loop of the future
//         Future<int> answer = promise.getFuture();
//         resolver.start(name, [promise = std::move(promise)](int address) mutable {
//             promise.send(address);                            // on any thread
//         });
//         return answer;
//     }
//
// Make the promise on a loop, and call getFuture() there, once, before the promise goes to another thread. Then one
// thread calls send() or sendError(), once. If the promise is destroyed before that, the future fails with
// broken_promise. The future becomes ready in a turn of its loop.
//
// While the future waits, its loop does not end for lack of work, and must not be destroyed. Dropping the future drops
// only the answer: send() then does nothing, even after the end of the loop. To call a function on another loop, use
// onLoop(); to call a function that blocks, use runBlocking().

#include "flow/loop/detail/remote_answer.h"

#include <memory>
#include <source_location>
#include <utility>

namespace flow {

template <class T>
class ThreadPromise {
public:
    /// Throws std::bad_alloc.
    ThreadPromise(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, hasLoop(), "a ThreadPromise is made on a thread without a loop");
        answer_ = std::make_unique<Answer>();
    }
    ThreadPromise(ThreadPromise&& other) noexcept = default;
    ThreadPromise& operator=(ThreadPromise&& other) noexcept {
        ThreadPromise before(std::move(*this));
        answer_ = std::move(other.answer_);
        return *this;
    }
    ~ThreadPromise() {
        if (answer_)
            settle(ErrorOr<T>::failed(broken_promise()));
    }

    /// Throws std::bad_alloc.
    Future<T> getFuture(std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, answer_ && !answer_->hasFuture,
                       "ThreadPromise: getFuture() is called once, before send()");
        Future<T> future = answer_->future();
        answer_->hasFuture = true;
        return future;
    }
    /// False after send() or sendError(), or if this object was moved from.
    bool canBeSet() const { return answer_ != nullptr; }
    void send(T value, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, answer_, "a ThreadPromise is set twice, or was moved from");
        settle(std::move(value));
    }
    void sendError(Error error, std::source_location caller = std::source_location::current()) {
        FLOW_ASSERT_AT(caller, answer_, "a ThreadPromise is set twice, or was moved from");
        settle(ErrorOr<T>::failed(error));
    }

private:
    struct Answer final : RemoteAnswer<Answer, T>, FastAllocated<Answer> {
        bool hasFuture = false;
    };

    void settle(ErrorOr<T> result) {
        std::unique_ptr<Answer> answer = std::move(answer_);
        if (!answer->hasFuture)
            return;
        answer->result.emplace(std::move(result));
        answer.release()->answer();
    }

    std::unique_ptr<Answer> answer_;
};

} // namespace flow
