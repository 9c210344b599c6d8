// Requests over bare sockets and epoll: the length, then the bytes. What any way needs at least.

#include "bench/net/rpc.h"
#include "flow/base/error.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <deque>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

void require(bool done) {
    if (!done)
        throw flow::platform_error();
}

class Stream {
public:
    explicit Stream(int descriptor) : descriptor_(descriptor), in_(kRoom) {
        int on = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;
    ~Stream() { ::close(descriptor_); }

    void watch(int epoll) {
        epoll_event event = {};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = this;
        require(::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor_, &event) == 0);
    }
    void put(char const* bytes, std::uint32_t size) {
        out_.append(reinterpret_cast<char const*>(&size), sizeof size).append(bytes, size);
    }
    /// Calls take(bytes, size) for each whole frame, and sends what was put. False at the end.
    template <class Take>
    bool go(Take take) {
        for (;;) {
            if (in_.size() - end_ < kRoom / 2)
                in_.resize(in_.size() * 2);
            ssize_t count = ::recv(descriptor_, in_.data() + end_, in_.size() - end_, MSG_DONTWAIT);
            if (count == 0 || (count < 0 && errno != EAGAIN))
                return false;
            bool isAll = count < 0 || static_cast<std::size_t>(count) < in_.size() - end_;
            end_ += count > 0 ? static_cast<std::size_t>(count) : 0;
            takeFrames(take);
            flush();
            if (isAll)
                return true;
        }
    }
    void flush() {
        if (sent_ == out_.size())
            return;
        ssize_t count = ::send(descriptor_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        sent_ += count > 0 ? static_cast<std::size_t>(count) : 0;
        if (sent_ == out_.size()) {
            out_.clear();
            sent_ = 0;
        }
    }
    std::deque<std::uint64_t> asked; // when, of the client

private:
    static constexpr std::size_t kRoom = 128 * 1024;

    template <class Take>
    void takeFrames(Take take) {
        std::size_t at = 0;
        for (std::uint32_t size; end_ - at >= sizeof size; at += sizeof size + size) {
            std::memcpy(&size, in_.data() + at, sizeof size);
            if (end_ - at < sizeof size + size)
                break;
            take(in_.data() + at + sizeof size, size);
        }
        std::memmove(in_.data(), in_.data() + at, end_ - at);
        end_ -= at;
    }

    int descriptor_;
    std::vector<char> in_;
    std::size_t end_ = 0; // of what was received
    std::string out_;
    std::size_t sent_ = 0;
};

/// Calls go(stream), false at its end, until `open` streams have ended.
template <class Go>
void runAll(int epoll, int open, Go go) {
    while (open != 0) {
        epoll_event events[64];
        int count = ::epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < count; ++i)
            if (!go(static_cast<Stream*>(events[i].data.ptr))) {
                delete static_cast<Stream*>(events[i].data.ptr);
                --open;
            }
    }
    ::close(epoll);
}

void serve(int listener, int connections) {
    int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < connections; ++i)
        (new Stream(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)))->watch(epoll);
    runAll(epoll, connections, [](Stream* stream) {
        return stream->go([stream](char const* bytes, std::uint32_t size) { stream->put(bytes, size); });
    });
}

void run(RpcJob const& job, RpcMeter& meter) {
    int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    require(::bind(listener, at, size) == 0 && ::listen(listener, 64) == 0 && ::getsockname(listener, at, &size) == 0);
    std::thread server([&] { serve(listener, job.connections); });
    std::string payload(job.bytes, 'x');
    auto bytes = static_cast<std::uint32_t>(payload.size());
    int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < job.connections; ++i) {
        int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        require(::connect(descriptor, at, size) == 0);
        auto* stream = new Stream(descriptor);
        stream->watch(epoll);
        for (int j = 0; j < job.depth; ++j) {
            stream->put(payload.data(), bytes);
            stream->asked.push_back(RpcMeter::now());
        }
        stream->flush();
    }
    runAll(epoll, job.connections, [&](Stream* stream) {
        return stream->go([&](char const* got, std::uint32_t count) {
            require(count == bytes && got[0] == 'x');
            std::uint64_t since = stream->asked.front();
            stream->asked.pop_front();
            if (meter.goesOn(since)) {
                stream->put(payload.data(), bytes);
                stream->asked.push_back(since);
            }
        }) && !stream->asked.empty();
    });
    server.join();
    ::close(listener);
}

bool const added = addRpc("raw-epoll", run);

} // namespace
} // namespace bench
