// UringPoller, the part for all descriptors; uring_receive.cpp has the part that receives ahead.
//
// Each descriptor has a slot; the descriptor's token is the index and the count of the slot. The id of a request is the
// token with a bit for the kind of request, so an event of a removed descriptor finds no slot and is ignored. A request
// stays active after an event. If the kernel ends a request, takeNews() makes it again: its id waits in ended_.
// request() only writes into the ring. The next wait() submits the requests in the call that waits.
//
// After a fork the child has a copy of the parent's ring, and must not cancel the parent's requests. So prepare() makes
// a new ring, with all requests.

#include "net/poll/detail/uring_poller.h"

#include "flow/base/error.h"
#include "flow/base/format.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <liburing.h>
#include <poll.h>
#include <span>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace flow::net {
namespace {

constexpr unsigned kAllEvents = POLLIN | POLLOUT | POLLRDHUP;

/// True if a request for a descriptor stays active after it has reported an event.
bool pollsAgainAndAgain(io_uring& ring) {
    int event = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return false;
    io_uring_cqe* news = nullptr;
    ::io_uring_prep_poll_multishot(::io_uring_get_sqe(&ring), event, POLLIN);
    bool works = ::io_uring_submit_and_wait(&ring, 1) == 1 && ::io_uring_peek_cqe(&ring, &news) == 0 && news->res > 0 &&
                 (news->res & POLLIN) && (news->flags & IORING_CQE_F_MORE);
    ::close(event);
    return works;
}

} // namespace

int uringError() {
    static int const error = [] {
        io_uring ring; // io_uring may be missing, forbidden by kernel.io_uring_disabled or a filter, or too old
        if (int failed = ::io_uring_queue_init(4, &ring, 0); failed != 0)
            return -failed;
        bool works = (ring.features & IORING_FEAT_EXT_ARG) && pollsAgainAndAgain(ring);
        ::io_uring_queue_exit(&ring);
        return works ? 0 : ENOSYS;
    }();
    return error;
}

bool hasUring() {
    return uringError() == 0;
}

std::string whyNoUring(int error) {
    if (error != ENOMEM)
        return "this kernel does not let the program use io_uring";
    rlimit locked = {};
    ::getrlimit(RLIMIT_MEMLOCK, &locked);
    return format("there is no memory for io_uring: the kernel counts that of all rings of a user as locked, of which "
                  "RLIMIT_MEMLOCK allows %llu KiB (ulimit -l)",
                  static_cast<unsigned long long>(locked.rlim_cur / 1024));
}

UringPoller::UringPoller() = default;

UringPoller::~UringPoller() {
    if (!ring_)
        return;
    if (!events_.needsDescriptor())
        takeAll(); // closes accepted connections that no listener has taken
    ::io_uring_queue_exit(ring_.get());
}

void UringPoller::prepare() {
    if (!ring_ || events_.needsDescriptor())
        open();
}

void UringPoller::open() {
    if (tryToOpen() != 0)
        throw platform_error();
}

int UringPoller::tryToOpen() {
    if (ring_) { // a copy of the parent process's ring
        for (Slot& each : slots_)
            each.isReceiving = false; // otherwise the parent's request would be cancelled
        takeBuffersBack(true);
        ::io_uring_queue_exit(ring_.get());
        ring_.reset();
    }
    events_.prepare();
    auto ring = std::make_unique<io_uring>();
    // With these flags (Linux 5.19), the kernel notes events only in calls of this thread, and does not interrupt it.
    constexpr unsigned kUninterrupted = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    auto init = [&](unsigned flags) {
        io_uring_params parameters = {};
        parameters.flags = IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE | flags;
        parameters.cq_entries = kNews;
        return -::io_uring_queue_init_params(kEntries, ring.get(), &parameters);
    };
    int error = init(kUninterrupted);
    if (error != 0 && (error = init(0)) != 0)
        return error;
    ring_ = std::move(ring);
    if (buffers_)
        buffers_ = std::make_unique<UringBuffers>(*ring_);
    ended_.clear();
    unreceived_.clear();
    ended_.reserve(slots_.size() + 1);
    request(events_.descriptor(), kWake);
    watched_.forEach([this](PolledDescriptor& each) { requestAll(each); });
    submit();
    return 0;
}

io_uring_sqe* UringPoller::freeEntry() noexcept {
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    if (!entry) {
        submit();
        entry = ::io_uring_get_sqe(ring_.get());
    }
    return entry;
}

void UringPoller::request(int descriptor, std::uint64_t id) {
    io_uring_sqe* entry = freeEntry();
    if (!entry)
        throw platform_error();
    if (id & kAccepts) {
        ::io_uring_prep_multishot_accept(entry, descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } else if (id & kReceives) {
        ::io_uring_prep_recv_multishot(entry, descriptor, nullptr, 0, 0);
        entry->flags |= IOSQE_BUFFER_SELECT;
        entry->buf_group = UringBuffers::kGroup;
    } else {
        Slot* slot = slotOf(id);
        bool onlyWriting = slot && slot->isAhead;
        unsigned events = id == kWake ? POLLIN : onlyWriting ? POLLOUT : kAllEvents;
        if (slot && slot->once != 0)
            ::io_uring_prep_poll_add(entry, descriptor, slot->once);
        else
            ::io_uring_prep_poll_multishot(entry, descriptor, events);
    }
    ::io_uring_sqe_set_data64(entry, id);
}

void UringPoller::requestAll(PolledDescriptor& descriptor) {
    Slot& slot = *slotOf(descriptor.token);
    slot.isReceiving = slot.wantsBytes;
    if (slot.isReceiving)
        request(descriptor.descriptor(), descriptor.token | kReceives);
    if (slot.hasPoll())
        request(descriptor.descriptor(), idOf(descriptor));
}

/// Cancels immediately, since the kernel keeps the socket open until the request ends. io_uring_prep_poll_remove()
/// would not cancel a request that has an event at this moment.
void UringPoller::cancel(std::uint64_t id) noexcept {
    cancelLater(id);
    submit();
}

void UringPoller::cancelLater(std::uint64_t id) noexcept {
    io_uring_sqe* entry = freeEntry();
    ::io_uring_prep_cancel64(entry, id, 0);
    ::io_uring_sqe_set_data64(entry, kNobody);
}

void UringPoller::submit() noexcept {
    ++counters_.changes;
    while (::io_uring_submit(ring_.get()) == -EINTR) {
    }
}

UringPoller::Slot* UringPoller::slotOf(std::uint64_t id) {
    auto index = static_cast<std::uint32_t>(id & ~(kAccepts | kReceives));
    if (index >= slots_.size() || slots_[index].count != id >> 32)
        return nullptr;
    return &slots_[index];
}

std::uint64_t UringPoller::idOf(PolledDescriptor const& descriptor) {
    return descriptor.token | (slotOf(descriptor.token)->accepts ? kAccepts : 0);
}

UringPoller::Slot& UringPoller::freeSlot(PolledDescriptor& descriptor) {
    prepare();
    if (free_.empty()) {
        slots_.emplace_back();
        free_.reserve(slots_.size()); // so that remove() needs no memory
        ended_.reserve(slots_.size() + 1);
        unreceived_.reserve(slots_.size());
        free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    std::uint32_t index = free_.back();
    std::uint32_t count = slots_[index].count;
    descriptor.token = std::uint64_t{count} << 32 | index;
    return slots_[index] = {.count = count};
}

void UringPoller::occupy(Slot& slot, PolledDescriptor& descriptor) {
    free_.pop_back();
    slot.descriptor = &descriptor;
    watched_.add(descriptor);
}

void UringPoller::add(PolledDescriptor& descriptor) {
    Slot& slot = freeSlot(descriptor);
    slot.accepts = slot.isAccepting = descriptor.listens();
    request(descriptor.descriptor(), idOf(descriptor));
    occupy(slot, descriptor);
}

int UringPoller::watchOnce(PolledDescriptor& descriptor, Wanted wanted) {
    prepare();
    if (descriptor.isWatched() && slotOf(descriptor.token)->isPolled) // the request is for other events
        remove(descriptor);
    if (!descriptor.isWatched())
        occupy(freeSlot(descriptor), descriptor);
    Slot& slot = *slotOf(descriptor.token);
    slot.once = (wanted.reading ? POLLIN | POLLRDHUP : 0u) | (wanted.writing ? POLLOUT : 0u);
    request(descriptor.descriptor(), descriptor.token);
    slot.isPolled = true;
    return 0;
}

void UringPoller::remove(PolledDescriptor& descriptor) {
    Slot* slot = descriptor.isWatched() ? slotOf(descriptor.token) : nullptr;
    if (!slot)
        return;
    watched_.remove(descriptor);
    std::uint64_t id = idOf(descriptor);
    bool isPolled = slot->hasPoll(), isReceiving = slot->isReceiving;
    if (slot->isAhead && descriptor.usesReceived())
        descriptor.copyReceived();
    std::erase(ended_, id);
    if (isReceiving)
        std::erase(unreceived_, descriptor.token);
    slot->descriptor = nullptr;
    if (++slot->count == 0)
        slot->count = 1;
    free_.push_back(static_cast<std::uint32_t>(descriptor.token));
    if (events_.needsDescriptor()) // the requests belong to the parent process
        return;
    if (isReceiving)
        cancelLater(descriptor.token | kReceives);
    if (isPolled)
        cancelLater(id);
    if (isReceiving || isPolled)
        submit();
}

void UringPoller::replace(PolledDescriptor& before, PolledDescriptor& after) {
    // The old request would report only changes; a new one first reports the present state.
    remove(before);
    add(after);
}

void UringPoller::wait(double seconds) noexcept {
    io_uring* ring = ring_.get();
    if (buffers_) {
        takeBuffersBack(seconds > 0 || buffers_->areFew());
        receiveAgain();
    }
    if (seconds <= 0 || !ended_.empty()) { // a request that was made again may have an event by now
        if (::io_uring_sq_ready(ring) != 0)
            submit();
        return takeNews(); // enters the kernel only if the kernel has events
    }
    if (::io_uring_cq_ready(ring) == 0) {
        constexpr double kLongest = 1e6;
        bool forever = !(seconds < kLongest);
        double whole = forever ? 0 : std::floor(seconds);
        __kernel_timespec limit{static_cast<long long>(whole),
                                forever ? 0 : static_cast<long long>(std::ceil((seconds - whole) * 1e9))};
        if (limit.tv_nsec >= 1'000'000'000) {
            ++limit.tv_sec;
            limit.tv_nsec -= 1'000'000'000;
        }
        ++counters_.waits;
        io_uring_cqe* first;
        ::io_uring_submit_and_wait_timeout(ring, &first, 1, forever ? nullptr : &limit, nullptr);
    }
    takeNews();
}

int UringPoller::descriptor() const {
    return ring_ ? ring_->ring_fd : -1;
}

bool UringPoller::settle() noexcept {
    if (buffers_) {
        takeBuffersBack(true);
        receiveAgain();
    }
    if (::io_uring_sq_ready(ring_.get()) != 0)
        submit();
    return ended_.empty();
}

/// Takes all events, and then makes the ended requests again, in portions: if the kernel's queue of events is full, the
/// kernel ends even new requests. Each request is made again only once in a call: if the kernel cannot watch the
/// descriptor, the new request ends immediately too, and waits for the next call.
void UringPoller::takeNews() noexcept {
    takeAll();
    for (std::size_t left = ended_.size(); left != 0;) {
        left -= requestAgain(left);
        submit();
        takeAll();
    }
}

void UringPoller::takeAll() noexcept {
    UringNews news[64];
    for (;;) {
        io_uring_cqe* entries[64];
        unsigned count = ::io_uring_peek_batch_cqe(ring_.get(), entries, 64);
        for (unsigned i = 0; i < count; ++i)
            news[i] = {::io_uring_cqe_get_data64(entries[i]), entries[i]->res, entries[i]->flags};
        ::io_uring_cq_advance(ring_.get(), count);
        for (unsigned i = 0; i < count; ++i)
            note(news[i]);
        if (count == 0)
            return;
    }
}

void UringPoller::note(UringNews const& news) noexcept {
    std::uint64_t id = news.id;
    int result = news.result;
    bool isLast = !(news.flags & IORING_CQE_F_MORE);
    if (id == kNobody)
        return;
    if (id & kReceives)
        return noteReceived(news);
    if (id & kAccepts)
        return noteAccepted(id, result, isLast);
    Slot* slot = nullptr;
    if (id == kWake) // takeWake() reads the eventfd
        ++counters_.wakeUps;
    else if (slot = slotOf(id); !slot || !slot->descriptor)
        return;
    if (slot && slot->once != 0)
        slot->isPolled = false;
    else if (isLast && result != -ECANCELED)
        ended_.push_back(id);
    if (!slot)
        return;
    bool failed = result < 0 || (result & (POLLERR | POLLHUP));
    bool ended = failed || (result & POLLRDHUP);
    slot->descriptor->onNews({ended || (result & POLLIN), failed || (result & POLLOUT), ended});
}

void UringPoller::noteAccepted(std::uint64_t id, int result, bool isLast) noexcept {
    Slot* slot = slotOf(id);
    if (!slot || !slot->descriptor) { // the listener has closed
        linger atOnce{1, 0};
        if (result >= 0) {
            ::setsockopt(result, SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
            ::close(result);
        }
        return;
    }
    slot->isAccepting = !isLast;
    bool goesOn = result >= 0 && slot->descriptor->onAccepted(result);
    if (!slot->accepts) // the listener is polled already
        return;
    if (goesOn) {
        if (isLast)
            ended_.push_back(id);
        return;
    }
    slot->accepts = false;
    ended_.push_back(id & ~kAccepts);
    if (!isLast)
        cancel(id);
}

/// Stops accepting. When the request has ended, all accepted connections are in the queue of events.
void UringPoller::stopAccepting(Slot& slot) noexcept {
    std::uint64_t token = slot.descriptor->token;
    if (std::exchange(slot.accepts, false)) {
        std::erase(ended_, token | kAccepts);
        ended_.push_back(token); // polled from then on
        if (slot.isAccepting)
            cancel(token | kAccepts);
    }
    takeAll();
    while (slot.isAccepting) {
        io_uring_cqe* any;
        ::io_uring_wait_cqe(ring_.get(), &any);
        takeAll();
    }
}

std::size_t UringPoller::requestAgain(std::size_t most) noexcept {
    most = std::min<std::size_t>(most, kEntries / 2);
    for (std::uint64_t id : std::span(ended_).first(most)) {
        Slot* slot = id == kWake ? nullptr : slotOf(id);
        if (id != kWake && (!slot || !slot->descriptor)) // the descriptor was removed
            continue;
        try {
            request(slot ? slot->descriptor->descriptor() : events_.descriptor(), id);
            if (id & kAccepts)
                slot->isAccepting = true;
        } catch (Error&) { // the ring takes no more requests: reports all events, because no later event will come
            if (slot)
                slot->descriptor->onNews({true, true, true});
        }
    }
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(most));
    return most;
}

} // namespace flow::net
