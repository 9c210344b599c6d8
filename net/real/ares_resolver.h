#pragma once
// AresResolver: resolves names with c-ares. The network's poller watches its sockets, and its deadlines are timers of
// the loop; it never blocks and has no thread.
//
// c-ares must be called as long as a socket is readable, but the poller reports that once. So after each event it is
// called until no socket has anything left.

#include "flow/loop/turn.h"
#include "net/poll/network_poller.h"
#include "net/resolver.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace flow::net {

class AresResolver final : public Resolver {
public:
    /// Throws platform_error. The poller must outlive it.
    AresResolver(NetworkPoller& poller, ResolverOptions const& options);
    AresResolver(AresResolver const&) = delete;
    AresResolver& operator=(AresResolver const&) = delete;
    /// Waiting operations are never completed.
    ~AresResolver() override;

private:
    class Lookup;
    struct Query;
    /// A socket of c-ares.
    struct Server final : PolledDescriptor {
        Server(AresResolver& o, int descriptor) : PolledDescriptor(descriptor), owner(o) {}
        void onNews(News) noexcept override { owner.again_.ask(TaskPriority::ReadSocket); }
        bool isAwaited() const override { return owner.waiting_ != 0; }
        AresResolver& owner;
        bool wantsToRead = false, wantsToWrite = false;
    };

    struct OwnTurn : Turn {
        explicit OwnTurn(AresResolver& o)
            : Turn([](Turn& self) { static_cast<OwnTurn&>(self).owner.goOn(); }), owner(o) {}
        AresResolver& owner;
    };

    Future<Found> lookUp(std::string name) override;
    static void onSocket(void* self, int descriptor, int readable, int writable);
    static void onAnswer(void* query, int status, int timeouts, ares_addrinfo* answer);
    void goOn();
    /// A lookup has ended or was cancelled.
    void leave();

    NetworkPoller& poller_;
    ares_channeldata* channel_ = nullptr;
    std::map<int, Server> servers_;
    OwnTurn again_{*this};    // a socket may have something
    OwnTurn deadline_{*this}; // a server has not answered in time
    std::size_t waiting_ = 0; // lookups
};

} // namespace flow::net
