#pragma once
// What the tests of FileDescriptor share: the pollers, and pairs of descriptors that no library of ours has opened.

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/file_descriptor.h"
#include "net/poll/network_poller.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace flow::test {

/// Calls test(), which makes its loops, with each poller of this machine.
template <class Test>
void onEachPoller(Test test) {
    for (char const* name : {"epoll", "uring"}) {
        if (name[0] == 'u' && !hasUring())
            continue;
        ChosenPoller chosen(name);
        INFO("with the poller ", std::string(name));
        test();
    }
}

inline Future<Void> endOfWait(FileDescriptor::Wait wait) {
    co_await wait;
}

/// Two descriptors: bytes of the second reach the first.
struct ForeignPair {
    int ends[2];

    static ForeignPair ofPipe() {
        return ForeignPair([](int* made) { return ::pipe2(made, O_CLOEXEC | O_NONBLOCK); });
    }
    static ForeignPair ofSocket() {
        return ForeignPair(
            [](int* made) { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, made); });
    }
    ForeignPair(ForeignPair const&) = delete;
    ~ForeignPair() {
        for (int end : {0, 1})
            close(end);
    }
    int operator[](int end) const { return ends[end]; }
    void send(char const* text = "x") const {
        REQUIRE(::write(ends[1], text, std::char_traits<char>::length(text)) > 0);
    }
    /// Writes until the kernel takes no more.
    void fill() const {
        char bytes[4096] = {};
        while (::write(ends[1], bytes, sizeof bytes) > 0) {
        }
    }
    /// Reads once; the number of bytes, 0 at the end, -1 if there is nothing.
    long take(std::size_t atMost = 4096) const {
        char bytes[4096];
        return ::read(ends[0], bytes, std::min(atMost, sizeof bytes));
    }
    void close(int end) {
        if (int number = std::exchange(ends[end], -1); number >= 0)
            ::close(number);
    }

private:
    explicit ForeignPair(int (*make)(int*)) { REQUIRE(make(ends) == 0); }
};

} // namespace flow::test
