#include "net/poll/detail/epoll_poller.h"

#include "flow/base/error.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <unistd.h>
#include <utility>

namespace flow::net {
namespace {

constexpr std::uint32_t kReadAndWrite = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
// The data of a registration is a pointer to the descriptor. With watchOnce() the data is the descriptor's token, which
// is odd: the number, and a count. The count distinguishes it from older registrations that epoll may still have,
// although their owner has closed the number.
constexpr std::uint64_t kOnce = 1;

epoll_data dataOf(PolledDescriptor& descriptor) {
    epoll_data data = {};
    if (descriptor.token & kOnce)
        data.u64 = descriptor.token;
    else
        data.ptr = &descriptor;
    return data;
}

constexpr double kLongest = 1e6; // seconds; longer waits have no limit, so that no conversion to an integer overflows

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
    bool works = change(EPOLL_CTL_ADD, events_.descriptor(), epoll_data(), EPOLLIN);
    watched_.forEach([&](PolledDescriptor& each) {
        if (!(each.token & kOnce))
            works = change(EPOLL_CTL_ADD, each.descriptor(), dataOf(each), kReadAndWrite) && works;
    });
    for (Once& each : once_)
        if (each.descriptor &&
            !change(EPOLL_CTL_ADD, each.descriptor->descriptor(), dataOf(*each.descriptor), each.events))
            each = {}; // its owner has closed it
    if (!works) {
        ::close(std::exchange(epoll_, -1));
        throw platform_error();
    }
}

bool EpollPoller::change(int operation, int descriptor, epoll_data what, std::uint32_t events) noexcept {
    epoll_event event = {};
    event.events = events;
    event.data = what;
    ++counters_.changes;
    return ::epoll_ctl(epoll_, operation, descriptor, &event) == 0;
}

void EpollPoller::add(PolledDescriptor& descriptor) {
    prepare();
    int number = descriptor.descriptor();
    bool works = change(EPOLL_CTL_ADD, number, dataOf(descriptor), kReadAndWrite);
    if (!works && errno == EEXIST && onceAt(number)) // a FileDescriptor has waited for the same file
        works = change(EPOLL_CTL_MOD, number, dataOf(descriptor), kReadAndWrite);
    if (!works)
        throw platform_error();
    forgetOnceAt(number);
    watched_.add(descriptor);
}

bool EpollPoller::isTaken(int number) {
    if (PolledDescriptor* other = onceAt(number))
        return other->isAwaited();
    bool isSocket = false;
    watched_.forEach([&](PolledDescriptor& each) { isSocket |= each.descriptor() == number && !(each.token & kOnce); });
    return isSocket;
}

int EpollPoller::request(PolledDescriptor& descriptor, Wanted wanted, std::uint32_t events) {
    prepare();
    int number = descriptor.descriptor();
    auto index = static_cast<std::size_t>(number);
    if (index >= once_.size())
        once_.resize(index + 1);
    bool isNew = once_[index].descriptor != &descriptor;
    if (isNew)
        descriptor.token = std::uint64_t{++lastCount_} << 32 | static_cast<std::uint32_t>(number) << 1 | kOnce;
    if (wanted.reading)
        events |= EPOLLIN | EPOLLRDHUP;
    if (wanted.writing)
        events |= EPOLLOUT;
    bool works = change(isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, number, dataOf(descriptor), events);
    if (!works && errno == EEXIST) {
        if (isTaken(number))
            return EEXIST;
        works = change(EPOLL_CTL_MOD, number, dataOf(descriptor), events);
    }
    if (!works)
        return errno;
    once_[index] = {&descriptor, events};
    if (!descriptor.isWatched())
        watched_.add(descriptor);
    return 0;
}

void EpollPoller::remove(PolledDescriptor& descriptor) {
    if (!descriptor.isWatched())
        return;
    watched_.remove(descriptor);
    if (descriptor.token & kOnce) {
        if (onceAt(descriptor.descriptor()) != &descriptor)
            return;
        forgetOnceAt(descriptor.descriptor());
    }
    if (!events_.needsDescriptor()) // otherwise epoll_ belongs to the parent process
        change(EPOLL_CTL_DEL, descriptor.descriptor(), epoll_data(), 0);
}

void EpollPoller::replace(PolledDescriptor& before, PolledDescriptor& after) {
    watched_.remove(before);
    watched_.add(after);
    prepare();
    if (!change(EPOLL_CTL_MOD, after.descriptor(), dataOf(after), kReadAndWrite)) {
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
        auto* descriptor = static_cast<PolledDescriptor*>(event.data.ptr);
        if (event.data.u64 & kOnce) {
            descriptor = onceAt(static_cast<int>(static_cast<std::uint32_t>(event.data.u64) >> 1));
            if (!descriptor || descriptor->token != event.data.u64)
                continue;
        }
        bool failed = event.events & (EPOLLERR | EPOLLHUP);
        bool ended = failed || (event.events & EPOLLRDHUP);
        descriptor->onNews({ended || (event.events & EPOLLIN), failed || (event.events & EPOLLOUT), ended,
                            !(event.events & EPOLLPRI)}); // a read does not return out-of-band bytes
    }
}

} // namespace flow::net
