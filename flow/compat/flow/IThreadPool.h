#pragma once
// IThreadPool under the old header name, and promises that take results from its threads to the loop.
//
//     struct Reader : IThreadPoolReceiver {
//         void init() override {}
//         struct Read : TypedAction<Reader, Read> {
//             ThreadReturnPromise<std::string> result;
//             double getTimeEstimate() const override { return 0.001; }
//         };
//         void action(Read& read) { read.result.send(readWholeFile()); }      // on the receiver's thread
//     };
//     Reference<IThreadPool> pool = createGenericThreadPool();
//     pool->addThread(new Reader);
//     auto* read = new Reader::Read;
//     Future<std::string> answer = read->result.getFuture();
//     pool->post(read);
//
// The pool owns receivers and actions. stop() and the end of the last reference wait for running actions and cancel all
// others. On a simulated loop, post() runs the action at once. New code: runBlocking() (flow/threads/run_blocking.h).

#include "flow.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

class IThreadPoolReceiver {
public:
    virtual ~IThreadPoolReceiver() = default;
    /// Called first, on the receiver's thread.
    virtual void init() = 0;
};

struct ThreadAction {
    virtual ~ThreadAction() = default;
    /// Runs the action, and destroys it.
    virtual void operator()(IThreadPoolReceiver* receiver) = 0;
    /// Called in place of the action if it will not run. Destroys the action.
    virtual void cancel() = 0;
    virtual double getTimeEstimate() const = 0;
};
typedef ThreadAction* PThreadAction;

template <class Object, class ActionType>
class TypedAction : public ThreadAction {
public:
    void operator()(IThreadPoolReceiver* receiver) override {
        std::unique_ptr<ActionType> self(static_cast<ActionType*>(this));
        static_cast<Object*>(receiver)->action(*self);
    }
    void cancel() override { delete static_cast<ActionType*>(this); }
};

class IThreadPool {
public:
    virtual ~IThreadPool() = default;
    /// Returns a future that fails with the first error of an action.
    virtual flow::Future<flow::Void> getError() const = 0;
    virtual void addThread(IThreadPoolReceiver* receiver, const char* name = nullptr) = 0;
    /// Runs the action on one of the threads.
    virtual void post(PThreadAction action) = 0;
    virtual flow::Future<flow::Void> stop(flow::Error const& error = flow::success()) = 0;
    virtual bool isCoro() const { return false; }
    virtual void addref() const = 0;
    virtual void delref() const = 0;
};

namespace flow::compat {

/// Posts calls to the loop on which this was made. Until postLast(), that loop does not end for lack of work.
class WayHome {
public:
    WayHome() : loop_(&Loop::current()), guard_(std::make_unique<WorkGuard>(*loop_)) {}

    /// Runs `call` on the loop. Any thread may call this.
    template <class F>
    void post(F call) {
        loop_->post(std::move(call));
    }
    /// Like post(), for the last call.
    template <class F>
    void postLast(F call) {
        loop_->post([guard = std::move(guard_), call = std::move(call)]() mutable { call(); });
    }

private:
    Loop* loop_;
    std::unique_ptr<WorkGuard> guard_;
};

} // namespace flow::compat

/// A promise that any thread may set, once, by send() or sendError(). The constructor and getFuture() must be called on
/// the loop of the future. Without a result, the destructor sends broken_promise.
template <class T>
class ThreadReturnPromise : flow::NonCopyable {
public:
    ~ThreadReturnPromise() {
        if (promise_.isValid())
            sendError(flow::broken_promise());
    }
    flow::Future<T> getFuture() { return promise_.getFuture(); }
    void send(T value) {
        home_.postLast(
            [promise = std::move(promise_), value = std::move(value)]() mutable { promise.send(std::move(value)); });
    }
    void sendError(flow::Error error) {
        home_.postLast([promise = std::move(promise_), error]() mutable { promise.sendError(error); });
    }

private:
    flow::Promise<T> promise_;
    flow::compat::WayHome home_;
};

/// Like ThreadReturnPromise, with any number of values. Without sendError(), the destructor sends broken_promise.
template <class T>
class ThreadReturnPromiseStream : flow::NonCopyable {
public:
    ~ThreadReturnPromiseStream() {
        home_.postLast([stream = std::move(stream_)] {});
    }
    flow::FutureStream<T> getFuture() { return stream_->getFuture(); }
    void send(T value) {
        home_.post([stream = stream_, value = std::move(value)]() mutable { stream->send(std::move(value)); });
    }
    void sendError(flow::Error error) {
        home_.post([stream = stream_, error] { stream->sendError(error); });
    }

private:
    std::shared_ptr<flow::PromiseStream<T>> stream_ = std::make_shared<flow::PromiseStream<T>>();
    flow::compat::WayHome home_;
};

namespace flow::compat {

class GenericThreadPool final : public IThreadPool, ThreadSafeReferenceCounted<GenericThreadPool> {
    using Counted = ThreadSafeReferenceCounted<GenericThreadPool>;
    friend Counted;

public:
    GenericThreadPool() : loop_(&Loop::current()) {}
    ~GenericThreadPool() override { end(); }

    Future<Void> getError() const override { return errors_->getFuture(); }
    void addThread(IThreadPoolReceiver* receiver, const char* name) override {
        receivers_.emplace_back(receiver);
        if (loop_->isSimulated())
            return receiver->init();
        // nondeterminism: a simulated loop has no threads
        threads_.emplace_back([this, receiver, text = std::string(name ? name : "").substr(0, 15)] {
            if (!text.empty())
                pthread_setname_np(pthread_self(), text.c_str()); // nondeterminism: the name is for debuggers
            work(*receiver);
        });
    }
    void post(PThreadAction action) override {
        if (loop_->isSimulated() && !isStopped_) {
            FLOW_ASSERT_TRUE(!receivers_.empty());
            return reporting([&] { (*action)(receivers_.front().get()); });
        }
        std::unique_lock lock(mutex_);
        if (isStopped_) {
            lock.unlock();
            return action->cancel();
        }
        actions_.push_back(action);
        changed_.notify_one();
    }
    Future<Void> stop(Error const& error) override {
        end();
        if (error.code() != error_code_success && errors_->canBeSet())
            errors_->sendError(error);
        return Void();
    }
    void addref() const override { Counted::addref(); }
    void delref() const override { Counted::delref(); }

private:
    void work(IThreadPoolReceiver& receiver) {
        reporting([&] { receiver.init(); });
        while (PThreadAction action = next())
            reporting([&] { (*action)(&receiver); });
    }
    /// Waits for the next action; returns null at the end.
    PThreadAction next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return isStopped_ || !actions_.empty(); });
        if (isStopped_)
            return nullptr;
        PThreadAction first = actions_.front();
        actions_.pop_front();
        return first;
    }
    template <class F>
    void reporting(F call) {
        try {
            call();
        } catch (...) {
            loop_->post([promise = errors_, error = currentError()] {
                if (promise->canBeSet())
                    promise->sendError(error);
            });
        }
    }
    void end() {
        std::deque<PThreadAction> left;
        {
            std::lock_guard lock(mutex_);
            isStopped_ = true;
            left.swap(actions_);
            changed_.notify_all();
        }
        for (PThreadAction action : left)
            action->cancel();
        for (std::thread& thread : std::exchange(threads_, {})) // nondeterminism: a simulated loop has no threads
            thread.join();
        receivers_.clear();
    }

    Loop* loop_;
    std::shared_ptr<Promise<Void>> errors_ = std::make_shared<Promise<Void>>(); // used on the loop only
    std::vector<std::unique_ptr<IThreadPoolReceiver>> receivers_;
    std::vector<std::thread> threads_; // nondeterminism: a simulated loop has no threads
    std::mutex mutex_;                 // guards the members below
    std::condition_variable changed_;
    std::deque<PThreadAction> actions_;
    bool isStopped_ = false;
};

} // namespace flow::compat

/// Runs each action inside post(), with a single receiver.
class DummyThreadPool final : public IThreadPool, flow::ReferenceCounted<DummyThreadPool> {
    using Counted = flow::ReferenceCounted<DummyThreadPool>;
    friend Counted;

public:
    flow::Future<flow::Void> getError() const override { return errors_.getFuture(); }
    void addThread(IThreadPoolReceiver* receiver, [[maybe_unused]] char const* name = nullptr) override {
        FLOW_ASSERT_TRUE(!receiver_);
        receiver_.reset(receiver);
        receiver->init();
    }
    void post(PThreadAction action) override {
        try {
            (*action)(receiver_.get());
        } catch (...) {
            if (errors_.canBeSet())
                errors_.sendError(flow::currentError());
        }
    }
    flow::Future<flow::Void> stop(flow::Error const&) override { return flow::Void(); }
    void addref() const override { Counted::addref(); }
    void delref() const override { Counted::delref(); }

private:
    std::unique_ptr<IThreadPoolReceiver> receiver_;
    flow::Promise<flow::Void> errors_;
};

/// Returns a new pool of the current loop. Stack sizes and thread priorities are the system's.
inline flow::Reference<IThreadPool> createGenericThreadPool(int = 0, int = 0) {
    return flow::Reference<IThreadPool>(new flow::compat::GenericThreadPool);
}
