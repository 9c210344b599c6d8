// The echo server of bare io_uring: one request accepts all connections, one for each connection receives everything
// into buffers that the kernel chooses, and each answer is a request. What a poller with these could reach at most.

#include "bench/net/echo.h"
#include "flow/base/error.h"

#include <arpa/inet.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

constexpr unsigned kBuffers = 2048, kBytes = 4096, kGroup = 0;

enum Kind : std::uint32_t { Accept, Receive, Send };

void require(bool done) {
    if (!done)
        throw flow::platform_error();
}

class Server {
public:
    Server(int connections, Listening const& listening) : memory_(std::size_t{kBuffers} * kBytes), open_(connections) {
        sockaddr_in address = {};
        socklen_t size = sizeof address;
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        require(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener_, 1024) == 0);
        require(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        unsigned flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
        io_uring_params parameters = {};
        parameters.flags = flags;
        parameters.cq_entries = 8192;
        require(::io_uring_queue_init_params(2048, &ring_, &parameters) == 0);
        addBuffers();
        accept();
        listening(ntohs(address.sin_port));
    }
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;
    ~Server() {
        ::io_uring_queue_exit(&ring_);
        ::munmap(buffers_, kBuffers * sizeof(io_uring_buf));
        ::close(listener_);
    }

    void run() {
        while (open_ != 0) {
            ++uringCalls;
            ::io_uring_submit_and_wait(&ring_, 1);
            unsigned head, count = 0;
            io_uring_cqe* each;
            io_uring_for_each_cqe(&ring_, head, each) {
                ++count;
                note(each);
            }
            ::io_uring_cq_advance(&ring_, count);
        }
    }

private:
    void addBuffers() {
        void* place = ::mmap(nullptr, kBuffers * sizeof(io_uring_buf), PROT_READ | PROT_WRITE,
                             MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
        require(place != MAP_FAILED);
        buffers_ = static_cast<io_uring_buf_ring*>(place);
        io_uring_buf_reg registered = {};
        registered.ring_addr = reinterpret_cast<std::uintptr_t>(place);
        registered.ring_entries = kBuffers;
        registered.bgid = kGroup;
        require(::io_uring_register_buf_ring(&ring_, &registered, 0) == 0);
        ::io_uring_buf_ring_init(buffers_);
        for (unsigned i = 0; i < kBuffers; ++i)
            giveBuffer(i);
    }
    void giveBuffer(unsigned index) {
        ::io_uring_buf_ring_add(buffers_, bufferAt(index), kBytes, static_cast<unsigned short>(index),
                                ::io_uring_buf_ring_mask(kBuffers), 0);
        ::io_uring_buf_ring_advance(buffers_, 1);
    }
    char* bufferAt(unsigned index) { return memory_.data() + std::size_t{index} * kBytes; }

    io_uring_sqe* request(Kind kind, unsigned what) {
        io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
        if (!entry) {
            ++uringCalls;
            ::io_uring_submit(&ring_);
            entry = ::io_uring_get_sqe(&ring_);
        }
        require(entry);
        *entry = {};
        entry->user_data = std::uint64_t{kind} << 32 | what;
        return entry;
    }
    // The functions of liburing that prepare a request clear user_data in some versions.
    void accept() {
        io_uring_sqe* entry = request(Accept, 0);
        std::uint64_t name = entry->user_data;
        ::io_uring_prep_multishot_accept(entry, listener_, nullptr, nullptr, SOCK_CLOEXEC);
        ::io_uring_sqe_set_data64(entry, name);
    }
    void receive(int descriptor) {
        io_uring_sqe* entry = request(Receive, static_cast<unsigned>(descriptor));
        std::uint64_t name = entry->user_data;
        ::io_uring_prep_recv_multishot(entry, descriptor, nullptr, 0, 0);
        entry->flags |= IOSQE_BUFFER_SELECT;
        entry->buf_group = kGroup;
        ::io_uring_sqe_set_data64(entry, name);
    }
    void send(int descriptor, unsigned buffer, int size) {
        io_uring_sqe* entry = request(Send, buffer);
        std::uint64_t name = entry->user_data;
        ::io_uring_prep_send(entry, descriptor, bufferAt(buffer), static_cast<std::size_t>(size),
                             MSG_NOSIGNAL | MSG_WAITALL);
        ::io_uring_sqe_set_data64(entry, name);
    }

    void note(io_uring_cqe* news) {
        auto kind = static_cast<Kind>(news->user_data >> 32);
        auto what = static_cast<unsigned>(news->user_data);
        bool goesOn = news->flags & IORING_CQE_F_MORE;
        if (kind == Send)
            return giveBuffer(what);
        if (kind == Accept) {
            if (news->res >= 0)
                receive(news->res);
            if (!goesOn)
                accept();
            return;
        }
        int descriptor = static_cast<int>(what);
        if (news->res > 0) {
            send(descriptor, news->flags >> IORING_CQE_BUFFER_SHIFT, news->res);
            if (!goesOn)
                receive(descriptor);
        } else if (news->res == -ENOBUFS) {
            receive(descriptor);
        } else {
            ::close(descriptor);
            --open_;
        }
    }

    int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    io_uring ring_;
    io_uring_buf_ring* buffers_ = nullptr;
    std::vector<char> memory_;
    int open_;
};

bool const added =
    addEcho("raw-uring", [](int connections, Listening const& listening) { Server(connections, listening).run(); });

} // namespace
} // namespace bench
