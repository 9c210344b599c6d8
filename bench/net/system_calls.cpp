#include "bench/net/system_calls.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constinit thread_local std::uint64_t calls = 0;

template <class... Arguments>
long counted(long number, Arguments... arguments) {
    ++calls;
    return ::syscall(number, arguments...);
}

} // namespace

namespace bench {

std::uint64_t systemCalls() {
    return calls;
}

} // namespace bench

extern "C" {

ssize_t read(int descriptor, void* to, size_t size) {
    return counted(SYS_read, descriptor, to, size);
}
ssize_t write(int descriptor, void const* from, size_t size) {
    return counted(SYS_write, descriptor, from, size);
}
ssize_t recv(int descriptor, void* to, size_t size, int flags) {
    return counted(SYS_recvfrom, descriptor, to, size, flags, nullptr, nullptr);
}
ssize_t send(int descriptor, void const* from, size_t size, int flags) {
    return counted(SYS_sendto, descriptor, from, size, flags, nullptr, 0);
}
ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
    return counted(SYS_recvmsg, descriptor, message, flags);
}
ssize_t sendmsg(int descriptor, msghdr const* message, int flags) {
    return counted(SYS_sendmsg, descriptor, message, flags);
}
int accept4(int descriptor, sockaddr* address, socklen_t* size, int flags) {
    return static_cast<int>(counted(SYS_accept4, descriptor, address, size, flags));
}
int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
    return static_cast<int>(counted(SYS_epoll_ctl, epoll, operation, descriptor, event));
}
int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds) {
    return static_cast<int>(counted(SYS_epoll_pwait, epoll, events, most, milliseconds, nullptr, 0));
}
int epoll_pwait(int epoll, epoll_event* events, int most, int milliseconds, sigset_t const* mask) {
    return static_cast<int>(counted(SYS_epoll_pwait, epoll, events, most, milliseconds, mask, 8));
}
int epoll_pwait2(int epoll, epoll_event* events, int most, timespec const* limit, sigset_t const* mask) {
    return static_cast<int>(counted(SYS_epoll_pwait2, epoll, events, most, limit, mask, 8));
}
}
