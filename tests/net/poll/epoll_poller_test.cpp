#include "net/poll/detail/epoll_poller.h"

#include <doctest/doctest.h>

#include <limits>
#include <sys/socket.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;

namespace {

struct Noting final : PolledDescriptor {
    int readable = 0, writable = 0, ended = 0;
    bool awaited = false;

    explicit Noting(int descriptor) : PolledDescriptor(descriptor) {}
    void onNews(News news) noexcept override {
        readable += news.readable;
        writable += news.writable;
        ended += news.ended;
    }
    bool isAwaited() const override { return awaited; }
};

struct Sockets {
    int ends[2];
    Sockets() { ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends); }
    ~Sockets() {
        for (int end : ends)
            ::close(end);
    }
};

} // namespace

TEST_CASE("epoll poller: news come once for each change") {
    Sockets sockets;
    Noting first(sockets.ends[0]);
    EpollPoller poller;
    CHECK_FALSE(poller.isUsed());
    poller.add(first);
    CHECK(poller.isUsed());
    poller.wait(0);
    CHECK(first.writable == 1);
    CHECK(first.readable == 0);
    poller.wait(0);
    CHECK(first.writable == 1);
    CHECK(::write(sockets.ends[1], "x", 1) == 1);
    poller.wait(std::numeric_limits<double>::infinity());
    CHECK(first.readable == 1);
    CHECK(first.ended == 0);
    poller.wait(0);
    CHECK(first.readable == 1);
    ::shutdown(sockets.ends[1], SHUT_WR);
    poller.wait(1);
    CHECK(first.ended == 1);
    poller.remove(first);
    CHECK(::send(sockets.ends[1], "y", 1, MSG_NOSIGNAL) == -1);
    poller.wait(0);
    CHECK(first.ended == 1);
    CHECK_FALSE(poller.isUsed());
}

TEST_CASE("epoll poller: another one may be watched in a descriptor's place") {
    Sockets sockets;
    Noting first(sockets.ends[0]), second(sockets.ends[0]);
    EpollPoller poller;
    poller.add(first);
    poller.wait(0);
    poller.replace(first, second);
    CHECK(::write(sockets.ends[1], "x", 1) == 1);
    poller.wait(1);
    CHECK(first.readable == 0);
    CHECK(second.readable == 1);
    poller.remove(second);
}

TEST_CASE("epoll poller: it is waited for while one descriptor is") {
    Sockets sockets;
    Noting first(sockets.ends[0]), second(sockets.ends[1]);
    EpollPoller poller;
    poller.add(first);
    poller.add(second);
    CHECK_FALSE(poller.isWaitedFor());
    first.awaited = true;
    CHECK(poller.isWaitedFor());
    CHECK(poller.isWaitedFor());
    poller.remove(first);
    CHECK_FALSE(poller.isWaitedFor());
    poller.remove(second);
}

TEST_CASE("epoll poller: wake ends a wait, and is counted") {
    EpollPoller poller;
    poller.prepare();
    poller.wake();
    poller.wait(std::numeric_limits<double>::infinity());
    poller.takeWake();
    poller.wait(0.001);
    CHECK(poller.counters().wakeUps == 1);
    CHECK(poller.counters().waits == 2);
}
