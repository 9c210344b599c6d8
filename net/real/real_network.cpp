// sockets_ lists all open sockets. end() closes them when the loop ends or the network is destroyed, whichever is
// first. After that a socket has no network, and its waiters wait forever. A Connect is an operation that owns its
// socket until the connection is made: it calls connect(), waits until the socket is writable, and passes the
// descriptor to a RealConnection. listenMany() and bindMany() make many sockets by io_uring, if the kernel has it.

#include "net/real/real_network.h"

#include "flow/core/operation.h"
#include "flow/coro/coroutine.h"
#if MILLRACE_CARES
#include "net/real/detail/ares_resolver.h"
#endif
#include "net/detail/connection_events.h"
#include "net/real/detail/real_datagrams.h"
#include "net/real/detail/real_listener.h"
#include "net/real/detail/uring_sockets.h"

#include <algorithm>
#include <cerrno>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

namespace flow::net {

namespace {

class Connect final : public Operation<Connect, Reference<Connection>>, RealSocket, Turn {
public:
    Connect(RealNetwork& network, Address const& to, ConnectOptions const& options) try
        : RealSocket(network, openSocket(to, SOCK_STREAM, options)),
          Turn([](Turn& self) { static_cast<Connect&>(self).goOn(); }), to_(to), options_(options),
          deadline_([](Turn& self) { static_cast<Deadline&>(self).owner->failInTime(); }, *this) {
        options.check();
        if (options.local) {
            if (options.local->port() != 0)
                setOption(descriptor(), SOL_SOCKET, SO_REUSEADDR, 1);
            bindTo(*options.local);
        }
        deadline_.askAt(Loop::current().now() + options.timeout, TaskPriority::ReadSocket);
        start();
    } catch (Error const& error) {
        throw errorAt(error, "connect to", to);
    }
    void describe(Description& out) const { out.text = "a connection to " + to_.toString(); }
    void fail(Error error) {
        traceConnection("ConnectFailed", to_, error);
        Operation::fail(error);
    }

private:
    struct Deadline : Turn {
        Deadline(void (*run)(Turn&), Connect& o) : Turn(run), owner(&o) {}
        Connect* owner;
    };
    static constexpr double kRetry = 0.01; // seconds between attempts while a Unix socket's backlog is full

    void start() {
        sockaddr_storage address = {};
        unsigned size = to_.toSystem(address);
        if (::connect(descriptor(), reinterpret_cast<sockaddr*>(&address), size) == 0)
            return succeed();
        isUnderWay_ = errno == EINPROGRESS || errno == EINTR;
        if (isUnderWay_)
            watch();
        else if (errno == EAGAIN)
            askAt(Loop::current().now() + kRetry, TaskPriority::ReadSocket);
        else
            failWith(errorOfCall(errno));
    }
    void onNews(News news) noexcept override {
        count(&SocketCounters::news);
        if (news.writable && isUnderWay_)
            ask(TaskPriority::ReadSocket);
    }
    bool isAwaited() const override { return true; }
    void onNetworkEnd() noexcept override {
        takeBack();
        deadline_.takeBack();
        leaveNetwork();
    }
    void goOn() {
        try {
            if (!isUnderWay_)
                return start();
            int error = 0;
            socklen_t size = sizeof error;
            ::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
            error == 0 ? succeed() : failWith(errorOfCall(error));
        } catch (...) {
            fail(currentError());
        }
    }
    void succeed() {
        if (isToItself()) {
            resetConnection(); // so that the port is free for a listener
            return failWith(errorOfCall(ECONNREFUSED));
        }
        applyOptions(descriptor(), to_, options_);
        complete(RealConnection::ofConnected(*this, to_, options_.readStrategy));
    }

    void bindTo(Address const& local) try { bindSocket(descriptor(), local); } catch (Error const& error) {
        throw errorAt(error, "from", local);
    }
    void failWith(Error error) { fail(errorAt(error, "connect to", to_)); }
    void failInTime() { fail(connectTimedOut(to_.toString(), options_.timeout)); }

    /// True if the socket is connected to itself: the kernel has chosen the free local port of `to_` for this side.
    bool isToItself() const {
        if (to_.isUnix() || addressHere().port() != to_.port())
            return false;
        sockaddr_storage address = {};
        socklen_t size = sizeof address;
        return ::getpeername(descriptor(), reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
               Address::fromSystem(reinterpret_cast<sockaddr*>(&address), size) == addressHere();
    }

    Address to_;
    ConnectOptions options_;
    Deadline deadline_;
    bool isUnderWay_ = false;
};

#if !MILLRACE_CARES
class NumericResolver final : public Resolver {
    Future<Found> lookUp(std::string name) override {
        return unsupported_operation().withSentence("look up \"" + name + "\": this build of Millrace has no c-ares");
    }
};
#endif

/// Returns the options that differ from the system's defaults. IPPROTO_IPV6: only for IPv6 sockets.
std::vector<SocketOption> multicastOptions(DatagramOptions const& options) {
    std::vector<SocketOption> set;
    if (options.multicastHops != 1)
        set = {{IPPROTO_IP, IP_MULTICAST_TTL, options.multicastHops},
               {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, options.multicastHops}};
    if (!options.multicastLoop) {
        set.push_back({IPPROTO_IP, IP_MULTICAST_LOOP, 0});
        set.push_back({IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0});
    }
    return set;
}

template <class Options>
std::vector<SocketOption> listOf(Options const& options, int type) {
    options.check();
    std::vector<SocketOption> set;
    if constexpr (std::is_same_v<Options, DatagramOptions>)
        set = multicastOptions(options);
    if (type == SOCK_STREAM)
        set.push_back({SOL_SOCKET, SO_REUSEADDR, 1});
    if (options.sendBuffer > 0)
        set.push_back({SOL_SOCKET, SO_SNDBUF, options.sendBuffer});
    if (options.receiveBuffer > 0)
        set.push_back({SOL_SOCKET, SO_RCVBUF, options.receiveBuffer});
    if (options.reusePort)
        set.push_back({SOL_SOCKET, SO_REUSEPORT, 1});
    set.push_back({IPPROTO_IPV6, IPV6_V6ONLY, options.onlyV6}); // UringSockets sets this for IPv6 only
    return set;
}

/// Returns the results of make(opened, index), one for each descriptor. If a call throws, closes all descriptors.
template <class Socket, class Make>
std::vector<Reference<Socket>> ownAll(std::span<int const> descriptors, Make make) {
    std::size_t owned = 0;
    try {
        std::vector<Reference<Socket>> all;
        all.reserve(descriptors.size());
        while (owned < descriptors.size()) {
            std::size_t index = owned++;
            all.push_back(make(OpenDescriptor(descriptors[index]), index));
        }
        return all;
    } catch (...) {
        for (int each : descriptors.subspan(owned))
            ::close(each);
        throw;
    }
}

} // namespace

RealNetwork::RealNetwork(RealLoop& loop) : loop_(loop), poller_(makePoller()) {
    sockets_.reset();
    owned_.network = this;
    owned_.isHeap = false;
    owned_.end = [](LoopOwned* owned) {
        auto* ended = static_cast<Owned*>(owned);
        ended->next = nullptr;
        RealNetwork* network = ended->network;
        network->end();
        if (ended->isHeap)
            delete network;
    };
    loop.provide<Transport>(this);
    loop.provide<DescriptorWatcher>(poller_.get());
    loop.usePoller(poller_.get());
    loop.add(owned_);
}

RealNetwork::~RealNetwork() {
    if (!owned_.isLinked())
        return;
    owned_.unlink();
    end();
}

Future<Void> RealNetwork::settled() {
    while (leaving_.queuedBytes() != 0)
        co_await leaving_.drainedTo(0);
}

std::size_t RealNetwork::openSockets() const {
    std::size_t count = 0;
    for (ListLink const* link = sockets_.next; link != &sockets_; link = link->next)
        ++count;
    return count;
}

void RealNetwork::end() noexcept {
    resolver_.reset();
    leaving_.abandonWaiters();
    while (!sockets_.isEmpty()) {
        auto* socket = static_cast<RealSocket*>(sockets_.next);
        socket->onNetworkEnd();
    }
    poller_->removeAll();
    if (loop_.service<DescriptorWatcher>() == poller_.get())
        loop_.provide<DescriptorWatcher>(nullptr);
    if (&loop_.poller() == poller_.get())
        loop_.usePoller(nullptr);
    if (loop_.service<Transport>() == this)
        loop_.provide<Transport>(nullptr);
}

Future<Reference<Connection>> RealNetwork::connect(Address to, ConnectOptions const& options) {
    return start<Connect>(*this, to, options);
}

Reference<Listener> RealNetwork::listen(Address at, ListenOptions const& options) try {
    options.check();
    OpenDescriptor opened = openSocket(at, SOCK_STREAM, options);
    if (at.isUnix())
        removeLeftBehind(at, SOCK_STREAM);
    else
        setOption(opened.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (options.reusePort)
        setOption(opened.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    if (at.isV6())
        setOption(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY, options.onlyV6);
    bindSocket(opened.get(), at);
    if (::listen(opened.get(), options.backlog) != 0)
        throw errorOfCall(errno);
    return makeReference<RealListener>(*this, std::move(opened), at, options);
} catch (Error const& error) {
    throw errorAt(error, "listen at", at);
}

Reference<DatagramSocket> RealNetwork::bind(Address at, DatagramOptions const& options) try {
    options.check();
    OpenDescriptor opened = openSocket(at, SOCK_DGRAM, options);
    if (at.isUnix())
        removeLeftBehind(at, SOCK_DGRAM);
    for (SocketOption const& each : multicastOptions(options))
        if (each.level == IPPROTO_IPV6 ? at.isV6() : !at.isUnix())
            setOption(opened.get(), each.level, each.name, each.value);
    if (options.reusePort)
        setOption(opened.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    if (at.isV6())
        setOption(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY, options.onlyV6);
    bindSocket(opened.get(), at);
    return makeReference<RealDatagramSocket>(*this, std::move(opened), at, options.readStrategy);
} catch (Error const& error) {
    throw errorAt(error, "bind to", at);
}

/// Returns null if io_uring is not available, or not worth it for these addresses.
UringSockets* RealNetwork::socketsFor(std::span<Address const> at) {
    constexpr std::size_t kWorthIt = 8;
    if (at.size() < kWorthIt || std::ranges::any_of(at, [](Address const& each) { return each.isUnix(); }))
        return nullptr;
    if (!uringSockets_ || uringSockets_->isOfParent())
        uringSockets_ = UringSockets::make();
    return uringSockets_.get();
}

std::vector<Reference<Listener>> RealNetwork::listenMany(std::span<Address const> at, ListenOptions const& options) {
    UringSockets* sockets = socketsFor(at);
    if (!sockets)
        return Transport::listenMany(at, options);
    auto opened = sockets->open(at, SOCK_STREAM, listOf(options, SOCK_STREAM), options.backlog);
    return ownAll<Listener>(opened, [&](OpenDescriptor each, std::size_t i) {
        return makeReference<RealListener>(*this, std::move(each), at[i], options);
    });
}

std::vector<Reference<DatagramSocket>> RealNetwork::bindMany(std::span<Address const> at,
                                                             DatagramOptions const& options) {
    UringSockets* sockets = socketsFor(at);
    if (!sockets)
        return Transport::bindMany(at, options);
    auto opened = sockets->open(at, SOCK_DGRAM, listOf(options, SOCK_DGRAM), 0);
    return ownAll<DatagramSocket>(opened, [&](OpenDescriptor each, std::size_t i) {
        return makeReference<RealDatagramSocket>(*this, std::move(each), at[i], options.readStrategy);
    });
}

Address RealNetwork::localAddress() const {
    Address found(0x7F000001, 0);
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0)
        return found;
    for (ifaddrs* each = list; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET || !(each->ifa_flags & IFF_UP) ||
            (each->ifa_flags & IFF_LOOPBACK))
            continue;
        found = Address::fromSystem(each->ifa_addr, sizeof(sockaddr_in)).value_or(found);
        break;
    }
    ::freeifaddrs(list);
    return found;
}

std::unique_ptr<Resolver> RealNetwork::makeResolver([[maybe_unused]] ResolverOptions const& options) {
#if MILLRACE_CARES
    return std::make_unique<AresResolver>(*poller_, options);
#else
    return std::make_unique<NumericResolver>();
#endif
}

Resolver& RealNetwork::resolver() {
    if (!resolver_)
        setResolver({});
    return *resolver_;
}

Transport& makeRealTransport() {
    auto* real = dynamic_cast<RealLoop*>(&Loop::current());
    FLOW_ASSERT(real, "this loop has no network: make a World with a SimNetwork, or run the test with --real");
    auto* network = new RealNetwork(*real);
    network->owned_.isHeap = true;
    return *network;
}

} // namespace flow::net
