#include "flow/loop/detail/outer_poller.h"

#include "flow/base/error.h"
#include "flow/core/detail/turn_budget.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

namespace flow {

RealLoop::OuterPoller::~OuterPoller() {
    for (int each : {timer_, epoll_})
        if (each >= 0)
            ::close(each);
}

/// A run() that ends a rest does not begin a new one. So the descriptor stays readable until runReady() does that.
void RealLoop::OuterPoller::prepare() {
    bool isOpen = isOpen_ && !events_.needsDescriptor();
    if (endRest() && isOpen)
        readableIn(0);
    if (inner_)
        inner_->prepare();
    if (!isOpen)
        open();
    if (inner_ && watched_ != inner_) {
        FLOW_ASSERT(inner_->descriptor() >= 0,
                    "a loop with a descriptor() needs a poller that has a descriptor(), too");
        watch(inner_->descriptor());
        watched_ = inner_;
    }
}

/// In a child of fork() the new epoll gets the number of the parent's epoll, so that descriptor() stays the same.
void RealLoop::OuterPoller::open() {
    isOpen_ = false;
    watched_ = nullptr;
    events_.prepare();
    if (timer_ >= 0)
        ::close(timer_);
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); // nondeterminism: only a RealLoop waits for it
    int made = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0)
        epoll_ = made;
    else if (made >= 0) {
        ::dup3(made, epoll_, O_CLOEXEC);
        ::close(made);
    }
    if (timer_ < 0 || made < 0)
        throw platform_error();
    watch(events_.descriptor());
    watch(timer_);
    isOpen_ = true;
    readableIn(0);
}

void RealLoop::OuterPoller::watch(int descriptor) {
    epoll_event event = {};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0)
        throw platform_error();
}

void RealLoop::OuterPoller::use(Poller* inner) noexcept {
    inner_ = inner;
    if (events_.needsDescriptor()) // the epoll and the timerfd belong to the parent process
        return;
    if (watched_)
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, std::exchange(watched_, nullptr)->descriptor(), nullptr);
    readableIn(0); // so that runReady() watches the new poller
}

void RealLoop::OuterPoller::readableIn(double seconds) noexcept {
    constexpr double kLongest = 1e9;
    constexpr long long kBillion = 1'000'000'000;
    itimerspec time = {}; // never
    if (seconds < kLongest) {
        auto nanoseconds = std::max(1LL, static_cast<long long>(std::ceil(seconds * 1e9)));
        time.it_value = {static_cast<time_t>(nanoseconds / kBillion), static_cast<long>(nanoseconds % kBillion)};
    }
    ::timerfd_settime(timer_, 0, &time, nullptr);
}

void RealLoop::OuterPoller::wait(double seconds) noexcept {
    bool isDriven = isDriven_ && loop_.isDriven(); // if not driven, run() sleeps here, also a run() inside of a step
    if (seconds > 0 && !isDriven && (!inner_ || inner_->settle())) {
        epoll_event any;
        readableIn(seconds);
        ::epoll_wait(epoll_, &any, 1, -1);
        readableIn(0);
    }
    if (inner_)
        inner_->wait(0);
}

void RealLoop::OuterPoller::rest() noexcept {
    double next = loop_.nextStep();
    rests_ = watched_ == inner_ && (!inner_ || inner_->settle()) && loop_.fallAsleep();
    readableIn(rests_ ? next - loop_.timer() : 0);
}

bool RealLoop::OuterPoller::run() try {
    endRest();
    isDriven_ = true;
    double until = loop_.timer() + kSliceSeconds;
    bool isStopped, isOver = false;
    while (!(isStopped = loop_.takeStop()) && !isOver) {
        loop_.step();
        double time = loop_.timer();
        isOver = loop_.nextStep() > time || time >= until;
    }
    isDriven_ = loop_.polled_ = false;
    rest();
    return isStopped;
} catch (...) { // an error of prepare()
    isDriven_ = false;
    readableIn(0);
    throw;
}

// -------------------------------------------------------------------------------------------------------------------
// The loop

void RealLoop::usePoller(Poller* poller) {
    if (outer_)
        outer_->use(poller);
    else
        setPoller(poller);
}

Poller& RealLoop::poller() const {
    return outer_ ? outer_->inner() : Loop::poller();
}

RealLoop::OuterPoller& RealLoop::outerPoller() {
    if (!outer_) {
        auto made = std::make_unique<OuterPoller>(*this, Loop::poller());
        made->prepare();
        outer_ = std::move(made);
        setPoller(outer_.get());
    }
    return *outer_;
}

int RealLoop::descriptor() {
    return outerPoller().descriptor();
}

bool RealLoop::runReady(std::source_location caller) {
    FLOW_ASSERT_AT(
        caller, !isRunning(),
        "runReady() inside of a step of its loop: let the other loop call it, when descriptor() is readable");
    FLOW_ASSERT_AT(caller, &current() == this, "runReady() on a loop that is not the current one of this thread");
    TurnBudget::Saved budget;
    budget.renew();
    return outerPoller().run();
}

} // namespace flow
