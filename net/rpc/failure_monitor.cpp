#include "net/rpc/failure_monitor.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/rpc/node.h"

namespace flow::net {

FailureMonitor& FailureMonitor::failureMonitor() {
    return rpc::Node::current().failureMonitor();
}

FailureStatus FailureMonitor::getState(Address const& address) const {
    auto found = states_.find(address);
    return found == states_.end() ? FailureStatus() : found->second.status;
}

FailureStatus FailureMonitor::getState(Endpoint const& endpoint) const {
    return failed_.contains(endpoint) ? FailureStatus(true) : getState(endpoint.getPrimaryAddress());
}

bool FailureMonitor::onlyEndpointFailed(Endpoint const& endpoint) const {
    return failed_.contains(endpoint) && getState(endpoint.getPrimaryAddress()).isAvailable();
}

Future<Void> FailureMonitor::onStateChanged(Endpoint const& endpoint) {
    return keep(states_[endpoint.getPrimaryAddress()].changed.next());
}

Future<Void> FailureMonitor::onStateEqual(Endpoint endpoint, FailureStatus status) {
    while (getState(endpoint) != status)
        co_await onStateChanged(endpoint);
}

Future<Void> FailureMonitor::onDisconnect(Address const& address) {
    return keep(states_[address].disconnected.next());
}

Future<Void> FailureMonitor::onDisconnectOrFailure(Endpoint const& endpoint) {
    return onDisconnect(endpoint.getPrimaryAddress()) || onStateEqual(endpoint, FailureStatus(true));
}

Future<Void> FailureMonitor::onFailedFor(Endpoint endpoint, Seconds seconds, double slope) {
    double begin = now();
    for (;;) {
        co_await onStateEqual(endpoint, FailureStatus(true));
        double patience = seconds + slope * (now() - begin);
        auto first = co_await race(onStateEqual(endpoint, FailureStatus(false)), delay(patience));
        if (first.index() == 1)
            co_return;
    }
}

void FailureMonitor::setStatus(Address const& address, FailureStatus status) {
    State& state = states_[address];
    if (status.isAvailable())
        std::erase_if(failed_, [&](Endpoint const& each) { return each.getPrimaryAddress() == address; });
    if (state.status == status)
        return;
    state.status = status;
    state.changed.trigger(TaskPriority::DefaultEndpoint);
}

void FailureMonitor::notifyDisconnect(Address const& address) {
    states_[address].disconnected.trigger(TaskPriority::DefaultEndpoint);
}

void FailureMonitor::endpointNotFound(Endpoint const& endpoint) {
    if (failed_.size() >= kMostFailedEndpoints)
        failed_.clear();
    failed_.insert(endpoint);
    states_[endpoint.getPrimaryAddress()].changed.trigger(TaskPriority::DefaultEndpoint);
}

} // namespace flow::net
