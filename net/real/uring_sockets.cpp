#include "net/real/detail/uring_sockets.h"

#if defined(MILLRACE_URING)

#include "flow/base/fork_count.h"
#include "net/real/detail/real_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <liburing.h>
#include <netinet/in.h>
#include <unistd.h>

namespace flow::net {
namespace {

// These operations may be newer than liburing. The numbers are those of the kernel's include/uapi/linux/io_uring.h.
constexpr unsigned char kSocket = 45, kCommand = 46, kBind = 56, kListen = 57;
constexpr unsigned kSetSocketOption = 3; // a command of kCommand

bool canDoAll(io_uring& ring) {
    io_uring_probe* probe = ::io_uring_get_probe_ring(&ring);
    if (!probe)
        return false;
    bool can = true;
    for (int each : {kSocket, kCommand, kBind, kListen})
        can = can && ::io_uring_opcode_supported(probe, each);
    ::io_uring_free_probe(probe);
    return can;
}

} // namespace

UringSockets::UringSockets() : ring_(std::make_unique<io_uring>()), forks_(forkCount()) {}

UringSockets::~UringSockets() {
    if (ring_)
        ::io_uring_queue_exit(ring_.get());
}

std::unique_ptr<UringSockets> UringSockets::make() {
    constexpr unsigned kEntries = kBatch;
    std::unique_ptr<UringSockets> sockets(new UringSockets);
    if (::io_uring_queue_init(kEntries, sockets->ring_.get(), IORING_SETUP_CLAMP) != 0) {
        sockets->ring_.reset();
        return nullptr;
    }
    return canDoAll(*sockets->ring_) && sockets->ring_->sq.ring_entries >= kEntries ? std::move(sockets) : nullptr;
}

bool UringSockets::isOfParent() const {
    return forks_ != forkCount();
}

io_uring_sqe* UringSockets::request(unsigned char operation, int descriptor, std::size_t index) {
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    FLOW_ASSERT(entry, "there is room for a batch");
    std::memset(static_cast<void*>(entry), 0, sizeof *entry);
    entry->opcode = operation;
    entry->fd = descriptor;
    entry->user_data = index;
    ++requested_;
    return entry;
}

void UringSockets::finish(std::span<int> results, std::span<Address const> at) {
    while (requested_ != 0) {
        io_uring_cqe* entries[64];
        unsigned count = ::io_uring_peek_batch_cqe(ring_.get(), entries, 64);
        if (count == 0)
            ::io_uring_submit_and_wait(ring_.get(), 1); // if a signal interrupts the call, the loop repeats it
        for (unsigned i = 0; i < count; ++i)
            results[static_cast<std::size_t>(entries[i]->user_data)] = entries[i]->res;
        ::io_uring_cq_advance(ring_.get(), count);
        requested_ -= count;
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i] < 0)
            throw errorAt(errorOfCall(-results[i]), "open a socket at", at[i]);
}

void UringSockets::makeSockets(std::span<Address const> at, int type, std::span<int> made) {
    for (std::size_t i = 0; i < at.size(); ++i) {
        auto* entry = request(kSocket, at[i].isV4() ? AF_INET : AF_INET6, i);
        entry->off = static_cast<unsigned>(type | SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    finish(made, at);
}

void UringSockets::setOptions(std::span<Address const> at, std::span<int const> made, SocketOption const& option) {
    int results[kBatch] = {};
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (option.level == IPPROTO_IPV6 && !at[i].isV6())
            continue;
        auto* entry = request(kCommand, made[i], i);
        entry->off = kSetSocketOption;
        entry->addr = static_cast<unsigned>(option.level) | std::uint64_t(static_cast<unsigned>(option.name)) << 32;
        entry->file_index = sizeof option.value;
        entry->addr3 = reinterpret_cast<std::uint64_t>(&option.value);
    }
    finish(std::span(results).first(at.size()), at);
}

void UringSockets::bindAll(std::span<Address const> at, std::span<int const> made) {
    static_assert(sizeof(sockaddr_storage) * kBatch <= 16384, "on the stack");
    sockaddr_storage addresses[kBatch];
    int results[kBatch] = {};
    for (std::size_t i = 0; i < at.size(); ++i) {
        addresses[i] = {};
        unsigned size = at[i].toSystem(addresses[i]);
        auto* entry = request(kBind, made[i], i);
        entry->addr = reinterpret_cast<std::uint64_t>(&addresses[i]);
        entry->off = size;
    }
    finish(std::span(results).first(at.size()), at);
}

void UringSockets::listenAll(std::span<Address const> at, std::span<int const> made, int backlog) {
    int results[kBatch] = {};
    for (std::size_t i = 0; i < made.size(); ++i)
        request(kListen, made[i], i)->len = static_cast<unsigned>(backlog);
    finish(std::span(results).first(made.size()), at);
}

std::vector<int> UringSockets::open(std::span<Address const> at, int type, std::span<SocketOption const> options,
                                    int backlog) {
    std::vector<int> all(at.size(), -1);
    std::span<int> made(all);
    try {
        for (std::size_t i = 0; i < at.size(); i += kBatch) {
            auto some = at.subspan(i, std::min(kBatch, at.size() - i));
            auto here = made.subspan(i, some.size());
            makeSockets(some, type, here);
            for (SocketOption const& option : options)
                setOptions(some, here, option);
            bindAll(some, here);
            if (backlog != 0)
                listenAll(some, here, backlog);
        }
    } catch (...) {
        for (int each : all)
            if (each >= 0)
                ::close(each);
        throw;
    }
    return all;
}

} // namespace flow::net

#else

struct io_uring {};

namespace flow::net {

std::unique_ptr<UringSockets> UringSockets::make() {
    return nullptr;
}
UringSockets::~UringSockets() = default;
bool UringSockets::isOfParent() const {
    return false;
}
std::vector<int> UringSockets::open(std::span<Address const>, int, std::span<SocketOption const>, int) {
    return {};
}

} // namespace flow::net

#endif
