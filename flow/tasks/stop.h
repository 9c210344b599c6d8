#pragma once
// Links the cancel of a task with std::stop_token, in both directions. OnCancelCall calls a function at a cancel.
//
//     Task<Digest> digest(Context, Bytes bytes) {
//         StopOnCancel stop(co_await context());            // the task's cancel requests a stop
//         co_return co_await runBlocking([bytes, token = stop.token()] { return sha512(bytes, token); });
//     }
//     Task<> serve(Context, std::stop_token token) {
//         CancelOnStop guard(co_await context(), token);    // a stop cancels this task
//         co_await forever();
//     }
//     OnCancelCall close(co_await context(), [&] { file.close(); });
//
// Each object is a local variable of the task with that context; with the context of a Scope, a local variable declared
// after the Scope. It works until it is destroyed. A stop may be requested on any thread; the cancel follows in a turn
// of the task's loop. While a CancelOnStop exists, a real loop does not end for lack of work. With the context of a
// Scope, a stop cancels the present children of the Scope.
//
// OnCancelCall calls its function once, at the cancel, or in the constructor if the task is cancelled already. If a
// cancel first ends a child that the task awaits, the task may resume before the function is called; then the
// destructor calls it. The function must not throw. The state of a std::stop_source is on the global heap.

#include "flow/loop/detail/posted.h"
#include "flow/tasks/task.h"

#include <atomic>
#include <optional>
#include <stop_token>

namespace flow {

/// Calls call() when the task or scope is cancelled.
template <class F>
class OnCancelCall {
public:
    OnCancelCall(Context here, F call)
        : call_(std::move(call)), hook_(tasks::makeHook<Hook>(here.memory(), parentOf(here))) {
        hook_->owner = this;
        hook_->onCancel = [](tasks::HookNode* hook) { static_cast<Hook*>(hook)->owner->callOnce(); };
        if (hook_->has(tasks::Node::kCancelled))
            callOnce();
    }
    OnCancelCall(OnCancelCall const&) = delete;
    OnCancelCall& operator=(OnCancelCall const&) = delete;
    ~OnCancelCall() {
        if (hook_->parent->has(tasks::Node::kCancelled)) // the end of a child may resume the task before onCancel()
            callOnce();
        hook_->onCancel = nullptr;
        tasks::endHook(hook_);
    }

private:
    struct Hook : tasks::HookNode {
        using HookNode::HookNode;
        OnCancelCall* owner = nullptr;
    };
    void callOnce() {
        if (!std::exchange(wasCalled_, true))
            call_();
    }
    static tasks::Node* parentOf(Context here) {
        FLOW_ASSERT(here.parent(), "an Environment is never cancelled: this needs the context of a task or a scope");
        return here.parent();
    }

    F call_;
    bool wasCalled_ = false;
    Hook* hook_;
};

/// Makes stop tokens. A cancel of the task or scope requests a stop for them.
class StopOnCancel {
public:
    explicit StopOnCancel(Context here) : onCancel_(here, Request{&source_}) {}

    std::stop_token token() const { return source_.get_token(); }

private:
    struct Request {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };

    std::stop_source source_;
    OnCancelCall<Request> onCancel_;
};

namespace tasks {

/// The message from the thread that requests a stop to the loop of the task. Freed with its last reference.
class StopBell final : public Posted, public FastAllocated<StopBell> {
public:
    explicit StopBell(Node* target) : home_(Loop::current()), target_(target) {}

    /// Posts the message. Runs on any thread.
    void ring() noexcept {
        references_.fetch_add(1, std::memory_order_relaxed);
        postTo<&StopBell::arrive, &StopBell::drop>(home_, TaskPriority::DefaultOnMainThread);
    }
    /// Makes a message that arrives later do nothing. Called on the thread of the loop.
    void silence() noexcept {
        target_ = nullptr;
        drop();
    }

private:
    void arrive() noexcept {
        if (Node* target = target_) {
            if (target->has(Node::kIsHook))
                cancelChildren(target);
            else
                cancelTree(target);
        }
        drop();
    }
    void drop() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    Loop& home_;
    Node* target_;
    std::atomic<int> references_{1};
};

} // namespace tasks

/// Cancels the task, or the children of the scope, when a stop is requested.
class CancelOnStop {
public:
    CancelOnStop(Context here, std::stop_token token)
        : bell_(new tasks::StopBell(here.parent())), callback_(std::move(token), Ring{bell_}) {
        FLOW_ASSERT(here.parent(), "an Environment is never cancelled: this needs the context of a task or a scope");
        if (!Loop::current().isSimulated())
            guard_.emplace(Loop::current());
    }
    CancelOnStop(CancelOnStop const&) = delete;
    CancelOnStop& operator=(CancelOnStop const&) = delete;
    ~CancelOnStop() {
        callback_.reset(); // if another thread is in Ring, waits for the end of that call
        bell_->silence();
    }

private:
    struct Ring {
        tasks::StopBell* bell;
        void operator()() const noexcept { bell->ring(); }
    };
    /// A std::stop_callback that is destroyed before the other members.
    struct Callback {
        Callback(std::stop_token token, Ring ring) { callback.emplace(std::move(token), ring); }
        void reset() { callback.reset(); }
        std::optional<std::stop_callback<Ring>> callback;
    };

    tasks::StopBell* bell_;
    Callback callback_;
    std::optional<WorkGuard> guard_;
};

} // namespace flow
