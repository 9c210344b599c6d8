#include "net/real/detail/blocking_call.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace flow::net {

// nondeterminism: a simulation has no such files.
void BlockingCall::begin(std::shared_ptr<BlockingCall> self, bool isWrite) {
    BlockingCall& call = *self;
    if (!isWrite)
        call.bytes.resize(kBytes);
    // The thread inherits the blocked signals. SIGTTIN and SIGTTOU, which stop a program in the background, stay
    // unblocked: if the thread blocked them, its read from the terminal would fail.
    sigset_t blocked, before;
    ::sigfillset(&blocked);
    ::sigdelset(&blocked, SIGTTIN);
    ::sigdelset(&blocked, SIGTTOU);
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool isStarted = true;
    call.state_ = State::UnderWay;
    try {
        std::thread([self = std::move(self), isWrite] { // nondeterminism: as above
            isWrite ? self->write() : self->read();
            self->state_ = State::Ended;
            std::uint64_t one = 1;
            (void)!::write(self->news_.get(), &one, sizeof one);
        })
            .detach();
    } catch (std::system_error const&) {
        isStarted = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (isStarted)
        return;
    call.state_ = State::None;
    throw platform_error().withSentence("the system starts no thread for a call that may block");
}

/// If errno is EAGAIN, because another program has made the file non-blocking, waits until the file is ready for
/// `event`.
void BlockingCall::waitFor(short event) const noexcept {
    if (errno != EAGAIN)
        return;
    pollfd asked = {file_.get(), event, 0};
    ::poll(&asked, 1, -1);
}

void BlockingCall::read() noexcept {
    for (;;) {
        ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
        result_ = {count > 0 ? static_cast<std::size_t>(count) : 0, count < 0 ? errno : 0};
        if (count >= 0 || (errno != EINTR && errno != EAGAIN))
            return;
        waitFor(POLLIN);
    }
}

void BlockingCall::write() noexcept {
    result_ = {};
    while (result_.count < bytes.size()) {
        ssize_t count = ::write(file_.get(), bytes.data() + result_.count, bytes.size() - result_.count);
        if (count >= 0) {
            result_.count += static_cast<std::size_t>(count);
        } else if (errno == EINTR || errno == EAGAIN) {
            waitFor(POLLOUT);
        } else {
            result_.error = errno;
            return;
        }
    }
}

} // namespace flow::net
