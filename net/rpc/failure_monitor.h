#pragma once
// FailureMonitor: the states of other processes, as this process has observed them.
//
//     FailureMonitor& monitor = FailureMonitor::failureMonitor();
//     if (monitor.getState(endpoint).isFailed()) ...
//     co_await monitor.onDisconnectOrFailure(endpoint);
//     co_await monitor.onStateEqual(endpoint, FailureStatus(false));      // until it answers again
//
// An address has failed when a connection to it could not be made, has ended, or does not answer; it is available again
// when a connection has been made and the transport at the other end has greeted. Addresses that nothing was ever sent
// to count as available. A single endpoint has failed when its process has answered that it has no such token.
//
// Waiters resume in a turn of their own. Cancel-safe. Ends with its FlowTransport: waiters then get broken_promise.

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
    /// The monitor of the loop's FlowTransport.
    static FailureMonitor& failureMonitor();

    FailureStatus getState(Address const& address) const;
    FailureStatus getState(Endpoint const& endpoint) const;
    /// True if this endpoint has failed, and its process has not.
    bool onlyEndpointFailed(Endpoint const& endpoint) const;

    /// Ready when the state may have changed.
    Future<Void> onStateChanged(Endpoint const& endpoint);
    Future<Void> onStateEqual(Endpoint endpoint, FailureStatus status);
    /// Ready when a connection to the address has ended, or could not be made.
    Future<Void> onDisconnect(Address const& address);
    /// Ready when it has failed, or when the connection ends, even if it is made again at once.
    Future<Void> onDisconnectOrFailure(Endpoint const& endpoint);
    /// Ready when it has been failed for so long without interruption; `slope` more for each second that this call
    /// waits.
    Future<Void> onFailedFor(Endpoint endpoint, double seconds, double slope = 0);

    // Called by the transport, or by a test.

    void setStatus(Address const& address, FailureStatus status);
    void notifyDisconnect(Address const& address);
    void endpointNotFound(Endpoint const& endpoint);

private:
    struct State {
        FailureStatus status;
        Trigger changed, disconnected;
    };
    /// The limit of recorded endpoints that do not exist; beyond it all are removed.
    static constexpr std::size_t kMostFailedEndpoints = 10'000;

    std::map<Address, State> states_;
    std::set<Endpoint> failed_;
};

using IFailureMonitor = FailureMonitor;

} // namespace flow::net
