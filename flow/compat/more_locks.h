#pragma once
// Classes of Flow with a count for which actors can wait, for flow/genericactors.actor.h of this folder.
//
//     NotifiedInt version(3);
//     wait(version.whenAtLeast(5));                           // until set(5), or more
//
//     BoundedFlowLock lock(2, 10);                            // two at a time, and up to 10 numbers ahead of them
//     state int64_t permit = wait(lock.take());
//     state BoundedFlowLock::Releaser releaser(&lock, permit);
//
//     ActiveCounter<int> running(0);
//     state ActiveCounter<int>::Releaser one = running.take(1);   // while `one` exists: running.getValue() == 1
//
//     AndFuture all;                                          // ready when all futures that were added are ready
//     all.add(write());
//     wait(all.getFuture());

#include "../flow.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace flow::compat {

/// A value that only grows.
template <class T>
class Notified {
public:
    explicit Notified(T value = T()) : value_(std::move(value)) {}
    Notified(Notified&&) noexcept = default;
    Notified& operator=(Notified&&) noexcept = default;

    T get() const { return value_; }
    /// Waits until the value is at least `limit`. Fails with broken_promise if this object is destroyed before.
    [[nodiscard]] Future<Void> whenAtLeast(T const& limit) {
        if (value_ >= limit)
            return Void();
        return waiting_.emplace(limit, Promise<Void>())->second.getFuture();
    }
    /// Sets a value, which must not be smaller. The waiters for values up to `value` run before this returns.
    void set(T const& value) {
        FLOW_ASSERT_TRUE(value >= value_);
        value_ = value;
        std::vector<Promise<Void>> reached;
        for (auto end = waiting_.upper_bound(value); waiting_.begin() != end; waiting_.erase(waiting_.begin()))
            reached.push_back(std::move(waiting_.begin()->second));
        for (Promise<Void> const& each : reached)
            each.send(Void());
    }
    void operator=(T const& value) { set(value); }
    /// Returns the number of calls of whenAtLeast() with a limit that is not reached, also of those with a dropped
    /// future.
    int numWaiting() const { return static_cast<int>(waiting_.size()); }

private:
    std::multimap<T, Promise<Void>> waiting_;
    T value_;
};
using NotifiedInt = Notified<std::int64_t>;
using NotifiedDouble = Notified<double>;

/// Gives permits with the numbers 1, 2, 3 and so on. take() does not wait while fewer than `unrestrictedPermits`
/// permits are held. Otherwise let n be the highest number among the `unrestrictedPermits` oldest held permits: take()
/// of a number above n + `boundedPermits` waits until n has grown.
class BoundedFlowLock : NonCopyable, public ReferenceCounted<BoundedFlowLock> {
public:
    class Releaser;

    BoundedFlowLock() : BoundedFlowLock(1, 0) {}
    BoundedFlowLock(std::int64_t unrestrictedPermits, std::int64_t boundedPermits)
        : unrestricted_(unrestrictedPermits), bounded_(boundedPermits) {
        FLOW_ASSERT_TRUE(unrestrictedPermits > 0);
    }

    /// Takes the next number. Cancel-safe: if the future is dropped before it is ready, releases the permit.
    Future<std::int64_t> take() {
        std::int64_t permit = ++last_;
        outstanding_.insert(permit);
        return wait(this, permit);
    }
    void release(std::int64_t permit) {
        outstanding_.erase(permit);
        update();
    }

private:
    static Future<std::int64_t> wait(BoundedFlowLock* self, std::int64_t permit) {
        try {
            self->update();
            co_await self->oldest_.whenAtLeast(std::max<std::int64_t>(0, permit - self->bounded_));
        } catch (Error& e) {
            if (e.code() == error_code_actor_cancelled)
                self->release(permit);
            throw;
        }
        co_return permit;
    }
    void update() {
        auto count = static_cast<std::int64_t>(outstanding_.size());
        oldest_.set(count < unrestricted_ ? last_ : *std::next(outstanding_.begin(), unrestricted_ - 1));
    }

    std::set<std::int64_t> outstanding_;
    NotifiedInt oldest_;
    std::int64_t last_ = 0;
    std::int64_t unrestricted_;
    std::int64_t bounded_;
};

class BoundedFlowLock::Releaser {
public:
    Releaser() = default;
    Releaser(BoundedFlowLock* taken, std::int64_t permit) : lock(taken), permitNumber(permit) {}
    Releaser(Releaser&& other) noexcept : lock(other.lock), permitNumber(std::exchange(other.permitNumber, 0)) {}
    Releaser& operator=(Releaser&& other) noexcept {
        release();
        lock = other.lock;
        permitNumber = std::exchange(other.permitNumber, 0);
        return *this;
    }
    ~Releaser() { release(); }
    void release() {
        if (std::int64_t permit = std::exchange(permitNumber, 0))
            lock->release(permit);
    }

    BoundedFlowLock* lock = nullptr;
    std::int64_t permitNumber = 0;
};

template <class T>
class ActiveCounter {
public:
    class Releaser {
    public:
        Releaser() = default;
        Releaser(ActiveCounter* of, T amount, std::function<void()> then)
            : counter_(of), amount_(std::move(amount)), then_(std::move(then)) {
            counter_->counter += amount_;
        }
        Releaser(Releaser&& other) noexcept { *this = std::move(other); }
        Releaser& operator=(Releaser&& other) noexcept {
            release();
            counter_ = std::exchange(other.counter_, nullptr);
            amount_ = std::move(other.amount_);
            then_ = std::move(other.then_);
            return *this;
        }
        ~Releaser() { release(); }
        void release() {
            if (!counter_)
                return;
            std::exchange(counter_, nullptr)->counter -= amount_;
            if (then_)
                then_();
        }

    private:
        ActiveCounter* counter_ = nullptr;
        T amount_{};
        std::function<void()> then_;
    };

    explicit ActiveCounter(T initial) : counter(std::move(initial)) {}
    T getValue() const { return counter; }
    /// Adds `amount` until the Releaser ends, which then calls then().
    Releaser take(T amount, std::function<void()> then = {}) {
        return Releaser(this, std::move(amount), std::move(then));
    }

    T counter;
};

class AndFuture {
public:
    AndFuture() = default;
    AndFuture(Future<Void> const& first) { add(first); }
    AndFuture(Error const& error) { add(Future<Void>(error)); }

    void add(Future<Void> const& next) {
        ++count_;
        if (!next.isReady() || next.isError())
            futures_.push_back(next);
    }
    void add(AndFuture others) { add(others.getFuture()); }
    Future<Void> getFuture() {
        if (futures_.empty())
            return Void();
        if (futures_.size() > 1)
            futures_ = {waitForAll(futures_)};
        return futures_.front();
    }
    operator Future<Void>() { return getFuture(); }
    bool isReady() {
        cleanup();
        return std::all_of(futures_.begin(), futures_.end(), [](auto const& each) { return each.isReady(); });
    }
    bool isError() const {
        return std::any_of(futures_.begin(), futures_.end(), [](auto const& each) { return each.isError(); });
    }
    /// Drops the futures that have a value.
    void cleanup() {
        std::erase_if(futures_, [](auto const& each) { return each.isReady() && !each.isError(); });
    }
    /// Returns the number of futures that were added.
    std::int64_t getFutureCount() const { return count_; }

private:
    std::int64_t count_ = 0;
    std::vector<Future<Void>> futures_;
};

} // namespace flow::compat
