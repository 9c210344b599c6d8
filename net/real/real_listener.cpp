#include "net/real/detail/real_listener.h"

#include "net/detail/connection_events.h"

#include <cerrno>

namespace flow::net {

RealListener::RealListener(RealNetwork& network, OpenDescriptor opened, Address const& at, ListenOptions const& options,
                           SocketFile file)
    : RealSocket(network, std::move(opened)), at_(at), file_(std::move(file)), options_(options) {}

bool RealListener::hasConnection() noexcept {
    if (accepted_.descriptor >= 0 || takeReady())
        return true;
    while (isOpen() && mayAccept_) {
        sockaddr_storage address = {};
        socklen_t size = sizeof address;
        int descriptor =
            ::accept4(this->descriptor(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        count(&SocketCounters::reads);
        if (descriptor >= 0) {
            accepted_ = {descriptor,
                         Address::fromSystem(reinterpret_cast<sockaddr*>(&address), size).value_or(Address())};
            return true;
        }
        switch (errno) {
        case EAGAIN:
            count(&SocketCounters::emptyReads);
            mayAccept_ = false;
            break;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
            mayAccept_ = false;
            traceAcceptPaused(at_, errorOfSystem(errno));
            pause_.askAt(Loop::current().now() + kPause, TaskPriority::AcceptSocket);
            break;
        case EBADF:
        case EINVAL:
        case ENOTSOCK:
            fail(platform_error());
            return true;
        default: // the connection has already ended, or a signal came: try again
            break;
        }
    }
    return false;
}

void RealListener::lookAgain() noexcept {
    if (isOpen()) // takes the connections that the kernel has accepted: close() would reset them
        poller().stopReceiving(*this);
    mayAccept_ = !pause_.isAsked();
}

bool RealListener::takeReady() noexcept {
    while (!ready_.isEmpty()) {
        sockaddr_storage address = {};
        socklen_t size = sizeof address;
        OpenDescriptor ready(ready_.pop());
        count(&SocketCounters::reads);
        if (::getpeername(ready.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
            continue; // the connection has already ended
        accepted_ = {ready.release(),
                     Address::fromSystem(reinterpret_cast<sockaddr*>(&address), size).value_or(Address())};
        return true;
    }
    return false;
}

bool RealListener::onAccepted(int descriptor) noexcept {
    count(&SocketCounters::news);
    bool wantsMore = ready_.isEmpty() || isAcceptWaitedFor();
    OpenDescriptor accepted(descriptor);
    try {
        ready_.push(descriptor);
        (void)accepted.release();
    } catch (...) { // no memory: the connection is closed
    }
    acceptorsMayTry();
    return wantsMore;
}

void RealListener::goOn(Turn& pause) {
    RealListener& self = static_cast<Pause&>(pause).listener;
    self.mayAccept_ = true;
    self.acceptorsMayTry();
}

Reference<Connection> RealListener::takeConnection() {
    OpenDescriptor accepted(std::exchange(accepted_.descriptor, -1));
    traceConnection("Accepted", accepted_.peer);
    applyOptions(accepted.get(), at_.isUnix() ? at_ : accepted_.peer, options_);
    bool isAdaptive = options_.readStrategy == ReadStrategy::Adaptive || options_.readStrategy == ReadStrategy::Ahead;
    if (!firstReads_ && isAdaptive)
        firstReads_ = makeReference<FirstReads>();
    return makeReference<RealConnection>(network(), std::move(accepted), accepted_.peer, options_.readStrategy,
                                         firstReads_);
}

void RealListener::onNews(News) noexcept {
    count(&SocketCounters::news);
    if (pause_.isAsked())
        return;
    mayAccept_ = true;
    acceptorsMayTry();
}

void RealListener::dropAccepted() noexcept {
    linger atOnce{1, 0};
    for (; accepted_.descriptor >= 0 || !ready_.isEmpty(); accepted_.descriptor = -1) {
        OpenDescriptor each(accepted_.descriptor >= 0 ? accepted_.descriptor : ready_.pop());
        ::setsockopt(each.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
    }
}

void RealListener::close() {
    if (!isOpen())
        return;
    pause_.takeBack();
    dropAccepted();
    file_.remove();
    closeDescriptor();
    fail(operation_obsolete());
}

void RealListener::onNetworkEnd() noexcept {
    pause_.takeBack();
    dropAccepted();
    error_ = operation_obsolete();
    file_.remove();
    abandonWaiters();
    leaveNetwork();
}

} // namespace flow::net
