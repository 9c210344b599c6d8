#pragma once
// AheadTransport: the current loop's transport as long as it exists: the one before, with ReadStrategy::Ahead.
//
//     ChosenPoller chosen("uring");
//     RealLoop loop;
//     RealNetwork network(loop);
//     AheadTransport ahead;
//     loop.run(each.run());

#include "net/poll/network_poller.h"
#include "net/transport.h"

namespace flow::test {

class AheadTransport final : public net::Transport {
public:
    AheadTransport() : before_(net::transport()) { Loop::current().provide<net::Transport>(this); }
    AheadTransport(AheadTransport const&) = delete;
    AheadTransport& operator=(AheadTransport const&) = delete;
    ~AheadTransport() { Loop::current().provide<net::Transport>(&before_); }

    Future<Reference<net::Connection>> connect(net::Address to, net::ConnectOptions const& options) override {
        return before_.connect(to, ahead(options));
    }
    Reference<net::Listener> listen(net::Address at, net::ListenOptions const& options) override {
        return before_.listen(at, ahead(options));
    }
    Reference<net::DatagramSocket> bind(net::Address at, net::DatagramOptions const& options) override {
        return before_.bind(at, ahead(options));
    }
    net::Address localAddress() const override { return before_.localAddress(); }
    net::Resolver& resolver() override { return before_.resolver(); }

private:
    template <class Options>
    static Options ahead(Options options) {
        options.readStrategy = net::ReadStrategy::Ahead;
        return options;
    }

    net::Transport& before_;
};

/// Whether this kernel can receive ahead, with FLOW_POLLER=uring.
inline bool canReceiveAhead() {
    return net::hasUring() && net::makePoller()->canReceiveAhead();
}

} // namespace flow::test
