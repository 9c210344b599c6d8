#pragma once
// AresResolver: resolves names with c-ares, without blocking and without a thread. The network's poller watches the
// sockets of c-ares, and timers of the loop keep its deadlines.
//
// c-ares must be called as long as a socket is readable, but the poller reports a readable socket only once: goOn()
// calls c-ares until no socket has bytes left.

#include "flow/loop/turn.h"
#include "net/poll/network_poller.h"
#include "net/resolver.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace flow::net {

class AresResolver final : public Resolver {
public:
    /// Throws platform_error if c-ares cannot be set up. `poller` must outlive the resolver.
    AresResolver(NetworkPoller& poller, ResolverOptions const& options);
    AresResolver(AresResolver const&) = delete;
    AresResolver& operator=(AresResolver const&) = delete;
    /// After the destructor, lookups that were in progress wait forever.
    ~AresResolver() override;

private:
    class Lookup;
    struct Query;
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
    /// Called when a lookup has ended or was cancelled. If no lookup is left, cancels all requests of c-ares.
    void leave();

    NetworkPoller& poller_;
    ares_channeldata* channel_ = nullptr;
    std::map<int, Server> servers_;
    OwnTurn again_{*this};    // runs when a socket may be readable or writable
    OwnTurn deadline_{*this}; // runs when a server has not answered in time
    std::size_t waiting_ = 0; // the number of lookups in progress
};

} // namespace flow::net
