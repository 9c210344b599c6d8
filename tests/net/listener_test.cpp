#include "net/listener.h"

#include "flow/core/future.h"
#include "flow/sim/sim_loop.h"

#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;
using namespace flow::net;

namespace {

/// Has as many connections as a test says; each is null.
struct ScriptedListener final : Listener {
    int waiting = 0;
    void come(int count) {
        waiting += count;
        acceptorsMayTry();
    }
    void close() override { fail(operation_obsolete()); }
    Address localAddress() const override { return *Address::parse("10.0.0.7:80"); }

private:
    bool hasConnection() noexcept override { return waiting != 0; }
    Reference<Connection> takeConnection() override {
        --waiting;
        return {};
    }
};

} // namespace

TEST_CASE("listener: connections go to waiters, oldest first; a cancelled one has taken none") {
    SimLoop loop;
    auto listener = makeReference<ScriptedListener>();
    std::vector<Future<Reference<Connection>>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(keep(listener->accept()));
    CHECK(flow::test::count(flow::test::pendingText(), "waits for a connection to 10.0.0.7:80\n") == 4);
    listener->come(2);
    all[0] = {};
    loop.run();
    CHECK(all[1].isReady());
    CHECK(all[2].isReady());
    CHECK_FALSE(all[3].isReady());
    CHECK(listener->waiting == 0);
    listener->close();
    loop.run();
    CHECK(all[3].getError() == operation_obsolete());
    Future<Reference<Connection>> later = keep(listener->accept());
    CHECK(later.getError() == operation_obsolete());
}
