#pragma once
// Hostname under the old header name: the name of a machine, and a port. The name is looked up only when needed.
//
//     Hostname server = Hostname::parse("db.example.org:4500:tls");     // throws connection_string_invalid
//     Optional<NetworkAddress> found = co_await server.resolve();       // nothing if the name has no address
//
// The transport's resolver (net/resolver.h) looks names up. In a simulation, the resolver of the SimNetwork does.

#include "../../../flow/coro/coroutine.h"
#include "../../resolver.h"
#include "NetworkAddress.h"
#include "flow/base/parse_number.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

struct Hostname {
    std::string host;
    std::string service; // the port
    bool isTLS = false;

    Hostname() = default;
    Hostname(std::string theHost, std::string theService, bool tls)
        : host(std::move(theHost)), service(std::move(theService)), isTLS(tls) {}

    /// True for a name with a port, false for an address.
    static bool isHostname(std::string const& text) {
        Hostname made = split(text);
        auto isOfName = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                   c == '.';
        };
        return !made.host.empty() && std::all_of(made.host.begin(), made.host.end(), isOfName) &&
               flow::parseNumber<std::uint16_t>(made.service) && !NetworkAddress::parseOptional(text).present();
    }
    static Hostname parse(std::string const& text) {
        if (!isHostname(text))
            throw flow::connection_string_invalid();
        return split(text);
    }
    std::string toString() const { return host + ":" + service + (isTLS ? ":tls" : ""); }

    /// Returns nothing if Resolver::resolve() fails with lookup_failed. Fails with all other errors of resolve().
    flow::Future<flow::Optional<NetworkAddress>> resolve() const { return resolveOnce(*this); }
    /// Repeats the lookup until it succeeds. Fails if `service` is no port. The pauses grow from 1 to 30 seconds.
    flow::Future<NetworkAddress> resolveWithRetry() const { return resolveUntilFound(*this); }

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, host, service, isTLS);
    }
    friend bool operator==(Hostname const&, Hostname const&) = default;
    friend auto operator<=>(Hostname const&, Hostname const&) = default;

private:
    static Hostname split(std::string text) {
        bool tls = text.ends_with(":tls");
        if (tls)
            text.resize(text.size() - 4);
        std::size_t colon = std::min(text.rfind(':'), text.size());
        return Hostname(text.substr(0, colon), text.substr(std::min(colon + 1, text.size())), tls);
    }
    static flow::Future<flow::Optional<NetworkAddress>> resolveOnce(Hostname name) {
        auto port = flow::parseNumber<std::uint16_t>(name.service);
        if (!port)
            throw flow::connection_string_invalid();
        auto found = co_await flow::tryGet(flow::net::transport().resolver().resolve(name.host, *port));
        if (found.isError(flow::error_code_lookup_failed))
            co_return flow::Optional<NetworkAddress>();
        flow::net::Address first = found.get().front();
        co_return NetworkAddress(IPAddress(first), first.port(), true, name.isTLS);
    }
    static flow::Future<NetworkAddress> resolveUntilFound(Hostname name, flow::Propagate = {}) {
        double pause = 1; // seconds
        while (true) {
            auto found = co_await flow::coro::outcome(resolveOnce(name));
            if (found.present() && found.get().present())
                co_return found.get().get();
            if (found.isError(flow::error_code_connection_string_invalid))
                throw found.getError();
            co_await flow::delay(pause);
            pause = std::min(2 * pause, 30.0);
        }
    }
};

#include "../../../flow/compat/flow/flow.h" // Flow's Hostname.h includes this header, too
