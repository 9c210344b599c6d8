#include "flow/loop/inbox.h"

#include "flow/base/error.h"
#include "flow/base/fork.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace flow::detail {

Inbox::~Inbox() {
    if (event_ >= 0)
        ::close(event_);
}

void Inbox::wake() noexcept {
    std::uint64_t one = 1;
    while (::write(event_, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

Link* Inbox::oldestFirst(Link* newest) {
    Link* oldest = nullptr;
    while (newest) {
        Link* next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

void Inbox::sleep(double seconds) {
    if (event_ >= 0 && forks_ != forkCount()) // this process is a child, and the eventfd is its parent's
        ::close(std::exchange(event_, -1));
    if (event_ < 0) {
        forks_ = forkCount();
        event_ = ::eventfd(0, EFD_CLOEXEC);
        if (event_ < 0)
            throw platform_error();
    }
    Link* nothing = nullptr;
    // Release: who finds us asleep sees the eventfd.
    if (!top_.compare_exchange_strong(nothing, asleep(), std::memory_order_release, std::memory_order_relaxed))
        return;
    constexpr double kLongest = 1e9; // keeps the conversion defined
    bool forever = !(seconds < kLongest);
    double whole = forever ? 0 : std::floor(seconds);
    timespec limit{static_cast<std::time_t>(whole), 0};
    limit.tv_nsec = forever ? 0 : static_cast<long>(std::ceil((seconds - whole) * 1e9));
    if (limit.tv_nsec >= 1'000'000'000) {
        ++limit.tv_sec;
        limit.tv_nsec -= 1'000'000'000;
    }
    pollfd poll{event_, POLLIN, 0};
    ::ppoll(&poll, 1, forever ? nullptr : &limit,
            nullptr); // a signal ends the sleep: the loop looks around and returns
    Link* still = asleep();
    if (top_.compare_exchange_strong(still, nullptr, std::memory_order_relaxed))
        return;
    // Someone has found us asleep, and writes or has written. The read waits for that: the write must not come after
    // the end of this inbox, nor end the next sleep.
    std::uint64_t count;
    while (::read(event_, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

} // namespace flow::detail
