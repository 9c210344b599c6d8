#include "net/poll/detail/epoll_poller.h"

#include "flow/base/error.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace flow::net {
namespace {

constexpr std::uint32_t kReadAndWrite = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
constexpr double kLongest = 1e6; // seconds; a longer wait has no limit, so no conversion to an integer overflows

timespec timeOf(double seconds) {
    double whole = std::floor(seconds);
    timespec time{static_cast<std::time_t>(whole), static_cast<long>(std::ceil((seconds - whole) * 1e9))};
    if (time.tv_nsec >= 1'000'000'000) {
        ++time.tv_sec;
        time.tv_nsec -= 1'000'000'000;
    }
    return time;
}

} // namespace

EpollPoller::~EpollPoller() {
    if (epoll_ >= 0)
        ::close(epoll_);
}

void EpollPoller::prepare() {
    if (epoll_ < 0 || events_.needsDescriptor())
        open();
}

void EpollPoller::open() {
    if (epoll_ >= 0)
        ::close(std::exchange(epoll_, -1));
    events_.prepare();
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0)
        throw platform_error();
    bool works = change(EPOLL_CTL_ADD, events_.descriptor(), nullptr, EPOLLIN);
    watched_.forEach([&](PolledDescriptor& each) {
        works = change(EPOLL_CTL_ADD, each.descriptor(), &each, kReadAndWrite) && works;
    });
    if (!works) {
        ::close(std::exchange(epoll_, -1));
        throw platform_error();
    }
}

bool EpollPoller::change(int operation, int descriptor, void* what, std::uint32_t events) noexcept {
    epoll_event event = {};
    event.events = events;
    event.data.ptr = what;
    ++counters_.changes;
    return ::epoll_ctl(epoll_, operation, descriptor, &event) == 0;
}

void EpollPoller::add(PolledDescriptor& descriptor) {
    prepare();
    if (!change(EPOLL_CTL_ADD, descriptor.descriptor(), &descriptor, kReadAndWrite))
        throw platform_error();
    watched_.add(descriptor);
}

void EpollPoller::remove(PolledDescriptor& descriptor) {
    if (!descriptor.isWatched())
        return;
    watched_.remove(descriptor);
    if (!events_.needsDescriptor()) // otherwise epoll_ belongs to the parent process
        change(EPOLL_CTL_DEL, descriptor.descriptor(), nullptr, 0);
}

void EpollPoller::replace(PolledDescriptor& before, PolledDescriptor& after) {
    watched_.remove(before);
    watched_.add(after);
    prepare();
    if (!change(EPOLL_CTL_MOD, after.descriptor(), &after, kReadAndWrite)) {
        watched_.remove(after);
        throw platform_error();
    }
}

void EpollPoller::wait(double seconds) noexcept {
    epoll_event events[kEventsPerWait];
    bool forever = !(seconds < kLongest);
    int count = -1;
    ++counters_.waits;
    if (hasNanoseconds_) {
        timespec limit = forever ? timespec{} : timeOf(seconds);
        count = ::epoll_pwait2(epoll_, events, kEventsPerWait, forever ? nullptr : &limit, nullptr);
        if (count < 0 && (errno == ENOSYS || errno == EPERM)) // an old kernel, or a filter that forbids the call
            hasNanoseconds_ = false;
    }
    if (!hasNanoseconds_)
        count = ::epoll_wait(epoll_, events, kEventsPerWait, forever ? -1 : static_cast<int>(std::ceil(seconds * 1e3)));
    for (int i = 0; i < count; ++i) {
        epoll_event const& event = events[i];
        if (!event.data.ptr) { // takeWake() reads the eventfd
            ++counters_.wakeUps;
            continue;
        }
        bool failed = event.events & (EPOLLERR | EPOLLHUP);
        bool ended = failed || (event.events & EPOLLRDHUP);
        static_cast<PolledDescriptor*>(event.data.ptr)
            ->onNews({ended || (event.events & EPOLLIN), failed || (event.events & EPOLLOUT), ended,
                      !(event.events & EPOLLPRI)}); // out-of-band bytes are reported, but a read does not return them
    }
}

} // namespace flow::net
