#include "net/connect.h"

#include "flow/base/parse_number.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/tasks/scope_of.h"
#include "flow/wait/delay.h"
#include "net/detail/address_error.h"

namespace flow::net {
namespace {

Future<Reference<Connection>> firstOf(std::vector<Address> addresses, ConnectOptions options) {
    ScopeOf<ErrorOr<Reference<Connection>>> attempts; // the destructor cancels the attempts that still run
    Error firstError;
    for (std::size_t begun = 0;;) {
        if (begun < addresses.size())
            attempts.spawn(transport().connect(addresses[begun++], options));
        Future<Void> patience = begun < addresses.size() ? Future<Void>(delay(kAttemptDelay)) : Future<Void>(Never());
        auto first = co_await race(attempts.next(), patience);
        if (first.index() == 1)
            continue;
        std::optional<Winner<ErrorOr<Reference<Connection>>>> ended = std::get<0>(std::move(first));
        if (!ended)
            throw firstError;
        if (ended->value().present())
            co_return ended->value().get();
        if (!firstError.isValid())
            firstError = ended->value().getError();
    }
}

Future<Reference<Connection>> lookUpAndConnect(std::string name, std::uint16_t port, ConnectOptions options) {
    std::vector<Address> found = co_await transport().resolver().resolve(name, port);
    co_return co_await connectAny(std::move(found), options);
}

std::string textOf(NameAndPort const& to) {
    return to.name + ":" + std::to_string(to.port);
}
std::string textOf(Address const& to) {
    return to.toString();
}

template <class To>
Future<Reference<Connection>> inTime(Future<Reference<Connection>> connecting, double seconds, To to) {
    auto first = co_await race(connecting, delay(seconds));
    if (first.index() == 1)
        throw connectTimedOut(textOf(to), seconds);
    co_return std::get<0>(std::move(first));
}

} // namespace

Future<Reference<Connection>> connect(std::string name, std::uint16_t port, ConnectOptions options) {
    double seconds = options.timeout;
    NameAndPort to{name, port};
    return inTime(lookUpAndConnect(std::move(name), port, std::move(options)), seconds, std::move(to));
}

Future<Reference<Connection>> connectAny(std::vector<Address> addresses, ConnectOptions options) {
    if (options.local)
        std::erase_if(addresses, [&](Address const& each) {
            return each.isV4() != options.local->isV4() || each.isV6() != options.local->isV6();
        });
    if (addresses.empty())
        return invalid_local_address().withSentence("connectAny(): no address has the family of options.local");
    double seconds = options.timeout;
    return inTime(firstOf(interleaved(addresses), std::move(options)), seconds, addresses.front());
}

std::vector<Address> interleaved(std::vector<Address> const& addresses) {
    std::vector<Address> families[2], all;
    for (Address const& each : addresses)
        families[each.isV6() != addresses.front().isV6()].push_back(each);
    for (std::size_t i = 0; i < addresses.size(); ++i)
        for (auto const& family : families)
            if (i < family.size())
                all.push_back(family[i]);
    return all;
}

std::optional<NameAndPort> parseNameAndPort(std::string_view text) {
    std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0)
        return std::nullopt;
    auto port = parseNumber<std::uint16_t>(std::string(text.substr(colon + 1)));
    std::string_view name = text.substr(0, colon);
    if (!port)
        return std::nullopt;
    if (name.front() == '[') {
        if (name.back() != ']' || !Address::parse(text).present())
            return std::nullopt;
        name = name.substr(1, name.size() - 2);
    } else if (name.find(':') != std::string_view::npos) {
        return std::nullopt;
    }
    return NameAndPort{std::string(name), *port};
}

} // namespace flow::net
