#pragma once
// FailureMonitor: the failures of other processes, as this process has observed them.
//
//     FailureMonitor& monitor = FailureMonitor::failureMonitor();
//     if (monitor.getState(endpoint).isFailed()) ...
//     co_await monitor.onDisconnectOrFailure(endpoint);
//     co_await monitor.onStateEqual(endpoint, FailureStatus(false));      // until it is available again
//
// An address has failed when a connection to it could not be made, has ended, or does not answer. It is available again
// after the greeting on a new connection. An unused address is available. A single endpoint has failed when its process
// has answered that the endpoint does not exist.
//
// Waiters resume in a later turn. Cancel-safe. When the rpc::Node ends, waiters get broken_promise.

#include "flow/base/seconds.h"
#include "flow/sync/trigger.h"
#include "net/rpc/endpoint.h"

#include <map>
#include <set>

namespace flow::net {

struct FailureStatus {
    bool failed = false;

    FailureStatus() = default;
    explicit FailureStatus(bool hasFailed) : failed(hasFailed) {}
    bool isFailed() const { return failed; }
    bool isAvailable() const { return !failed; }
    friend bool operator==(FailureStatus const&, FailureStatus const&) = default;
};

class FailureMonitor {
public:
    FailureMonitor() = default;
    /// Returns the monitor of the loop's rpc::Node.
    static FailureMonitor& failureMonitor();

    FailureStatus getState(Address const& address) const;
    FailureStatus getState(Endpoint const& endpoint) const;
    /// True if this endpoint has failed, but not its process.
    bool onlyEndpointFailed(Endpoint const& endpoint) const;

    /// Waits until the state of the endpoint may have changed.
    Future<Void> onStateChanged(Endpoint const& endpoint);
    Future<Void> onStateEqual(Endpoint endpoint, FailureStatus status);
    /// Waits until a connection to the address has ended, or could not be made.
    Future<Void> onDisconnect(Address const& address);
    /// Waits until the endpoint has failed or the connection ends, even if a new connection is made immediately.
    Future<Void> onDisconnectOrFailure(Endpoint const& endpoint);
    /// Waits until the endpoint has been in the failed state without interruption for `seconds`, plus `slope` times the
    /// seconds from this call to the failure.
    Future<Void> onFailedFor(Endpoint endpoint, Seconds seconds, double slope = 0);

    // Only the node and tests use these functions.

    void setStatus(Address const& address, FailureStatus status);
    void notifyDisconnect(Address const& address);
    void endpointNotFound(Endpoint const& endpoint);

private:
    struct State {
        FailureStatus status;
        Trigger changed, disconnected;
    };
    /// If failed_ has this size, it is cleared before the next endpoint is added.
    static constexpr std::size_t kMostFailedEndpoints = 10'000;

    std::map<Address, State> states_;
    std::set<Endpoint> failed_;
};

using IFailureMonitor = FailureMonitor;

} // namespace flow::net
