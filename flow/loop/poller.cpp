#include "flow/loop/poller.h"

#include "flow/base/error.h"
#include "flow/base/fork_count.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace flow {

EventPoller::~EventPoller() {
    if (event_ >= 0)
        ::close(event_);
}

bool EventPoller::needsDescriptor() const {
    return event_ < 0 || forks_ != forkCount();
}

void EventPoller::prepare() {
    if (!needsDescriptor())
        return;
    if (event_ >= 0)
        ::close(std::exchange(event_, -1));
    forks_ = forkCount();
    event_ = ::eventfd(0, EFD_CLOEXEC);
    if (event_ < 0)
        throw platform_error();
}

void EventPoller::wait(double seconds) noexcept {
    constexpr double kLongest = 1e9; // a larger number might not fit into a time_t
    bool forever = !(seconds < kLongest);
    double whole = forever ? 0 : std::floor(seconds);
    timespec limit{static_cast<std::time_t>(whole), 0};
    limit.tv_nsec = forever ? 0 : static_cast<long>(std::ceil((seconds - whole) * 1e9));
    if (limit.tv_nsec >= 1'000'000'000) {
        ++limit.tv_sec;
        limit.tv_nsec -= 1'000'000'000;
    }
    pollfd poll{event_, POLLIN, 0};
    ::ppoll(&poll, 1, forever ? nullptr : &limit, nullptr); // EINTR: the loop checks for work and waits again
}

void EventPoller::wake() noexcept {
    int before = errno; // a signal handler must not change the errno of the interrupted code
    std::uint64_t one = 1;
    while (::write(event_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    errno = before;
}

void EventPoller::takeWake() noexcept {
    std::uint64_t count;
    while (::read(event_, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

} // namespace flow
