#pragma once
// What every Transport does, as cases that run on a loop which has one: each is its own server and its own client.
//
//     for (TransportCase const& each : transportCases())
//         loop.run(each.run());                               // CHECKs of doctest fail within

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"
#include "net/transport.h"

#include <string>
#include <vector>

namespace flow::test {

using namespace net;

struct TransportCase {
    const char* name;
    Future<Void> (*run)();
};

std::vector<TransportCase> const& transportCases();

/// FLOW_POLLER, as long as this exists.
class ChosenPoller {
public:
    explicit ChosenPoller(char const* name);
    ChosenPoller(ChosenPoller const&) = delete;
    ChosenPoller& operator=(ChosenPoller const&) = delete;
    ~ChosenPoller();

private:
    std::optional<std::string> before_;
};

/// Both ends of a connection, and what it was made with.
struct Pair {
    Reference<Listener> listener;
    Reference<Connection> client;
    Reference<Connection> server;
};
Future<Pair> makePair();
Future<Pair> makePairAt(Address at);

/// Sends back what comes, up to the end.
Future<Void> echoOnce(Reference<Connection> connection);
/// So many round trips with a peer that does so.
Future<Void> askTimes(Reference<Connection> connection, int times);

/// Up to the end; at least so many bytes.
Future<std::string> readAll(Reference<Connection> connection);
Future<std::string> readAtLeast(Reference<Connection> connection, std::size_t bytes);
/// How it ends: Error() if well.
template <class T>
Future<Error> endOf(Future<T> future) {
    ErrorOr<T> result = co_await tryGet(std::move(future));
    co_return result.isError() ? result.getError() : Error();
}

} // namespace flow::test
