#pragma once
// withoutSigpipe(): a system call that sends no SIGPIPE to this program if the other side has ended the connection.
//
//     ssize_t count = withoutSigpipe([&] { return ::write(pipe, bytes, size); });    // -1 and EPIPE

#include <cerrno>
#include <csignal>
#include <sys/types.h>

namespace flow::net {

/// Makes the call, and repeats it while it fails with EINTR.
template <class Call>
ssize_t withoutSigpipe(Call call) {
    sigset_t pipe, before;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t result;
    do
        result = call();
    while (result < 0 && errno == EINTR);
    if (::sigismember(&before, SIGPIPE))
        return result;
    int error = errno;
    timespec atOnce = {};
    if (result < 0 && error == EPIPE)
        ::sigtimedwait(&pipe, nullptr, &atOnce);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return result;
}

} // namespace flow::net
