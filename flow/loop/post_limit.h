#pragma once
// PostLimit: posts calls to a loop, and limits the number of calls that wait.
//
//     PostLimit inbox(loop, 1000);
//     if (!inbox.post([message] { handle(message); }))      // any thread
//         slowDown();                                       // 1000 calls of this PostLimit have not begun yet
//
// A call counts from post() until it begins to run, or is destroyed with the loop. Only calls of this PostLimit count:
// not Loop::post(), signals, other PostLimits, or answers of onLoop and blocking calls. So an answer is never refused.
// Any thread may call post(), and destroy a PostLimit before its calls run. The loop must exist at each post().

#include "flow/loop/loop.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace flow {

class PostLimit {
public:
    /// Lets at most `most` calls wait at `limited`. Throws std::bad_alloc.
    PostLimit(Loop& limited, std::size_t most) : loop_(limited), most_(most) {}
    PostLimit(PostLimit const&) = delete;
    PostLimit& operator=(PostLimit const&) = delete;

    /// Posts the call like Loop::post(). If `most` calls wait already, destroys the call and returns false.
    template <class F>
    [[nodiscard]] bool post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        if (waiting_->fetch_add(1, std::memory_order_relaxed) >= most_) {
            waiting_->fetch_sub(1, std::memory_order_relaxed);
            return false;
        }
        Place place(waiting_);
        loop_.post(
            [place = std::move(place), call = std::move(call)]() mutable {
                place = Place();
                call();
            },
            priority);
        return true;
    }
    std::size_t waiting() const { return waiting_->load(std::memory_order_relaxed); }

private:
    using Count = std::shared_ptr<std::atomic<std::size_t>>;

    /// Counts a call while this object exists.
    class Place {
    public:
        Place() = default;
        explicit Place(Count count) : count_(std::move(count)) {}
        Place(Place&& other) noexcept : count_(std::move(other.count_)) {}
        Place& operator=(Place&& other) noexcept {
            Place before(std::move(*this));
            count_ = std::move(other.count_);
            return *this;
        }
        ~Place() {
            if (count_)
                count_->fetch_sub(1, std::memory_order_relaxed);
        }

    private:
        Count count_;
    };

    Loop& loop_;
    std::size_t most_;
    Count waiting_ = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace flow
