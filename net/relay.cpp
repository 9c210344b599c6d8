#include "net/relay.h"

#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"

#include <utility>

namespace flow::net {
namespace {

Future<Void> pass(Connection* from, Connection* to, Propagate = {}) {
    for (;;) {
        Bytes bytes = co_await from->read();
        if (bytes.empty())
            break;
        co_await to->write(std::move(bytes)); // waits until the other side has room
    }
    to->shutdownWrite();
    co_await to->flushed();
}

/// Two connections. The destructor resets both, unless endsWell is true.
struct Relayed {
    Relayed(Reference<Connection> one, Reference<Connection> other) : a(std::move(one)), b(std::move(other)) {}
    Relayed(Relayed const&) = delete;
    Relayed& operator=(Relayed const&) = delete;
    ~Relayed() {
        if (endsWell)
            return;
        a->abort();
        b->abort();
    }

    Reference<Connection> a, b;
    bool endsWell = false;
};

Future<Void> relayBoth(Reference<Connection> a, Reference<Connection> b, Propagate = {}) {
    Relayed relayed(std::move(a), std::move(b));
    auto there = [&] { return pass(relayed.a.getPtr(), relayed.b.getPtr()); };
    auto back = [&] { return pass(relayed.b.getPtr(), relayed.a.getPtr()); };
    auto both = all(there, back); // declared after `relayed`: both directions end before ~Relayed()
    co_await both;
    relayed.endsWell = true;
}

} // namespace

Future<Void> relay(Reference<Connection> a, Reference<Connection> b, std::source_location caller) {
    FLOW_ASSERT_AT(caller, a && b && a != b, "relay() needs two connections, which are not the same one");
    return relayBoth(std::move(a), std::move(b));
}

} // namespace flow::net
