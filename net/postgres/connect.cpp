// Connects with libpq's nonblocking functions. Names are resolved by the loop's resolver, since libpq would block.

#include "flow/base/format.h"
#include "flow/combine/timeout.h"
#include "net/postgres/connection.h"
#include "net/postgres/detail/libpq.h"
#include "net/postgres/detail/link.h"
#include "net/transport.h"

#include <algorithm>
#include <map>

namespace flow::net::postgres {
namespace {

using internals::OwnedConnection;
using Settings = std::map<std::string, std::string>;

struct Host {
    std::string name, address, port;

    bool isName() const { return address.empty() && !name.empty() && name[0] != '/' && name[0] != '@'; }
};

/// Returns the settings of the text; libpq's environment variables give the host if the text has none.
Settings settingsOf(std::string const& url) {
    char* reason = nullptr;
    std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> given(PQconninfoParse(url.c_str(), &reason),
                                                                       PQconninfoFree);
    if (!given) {
        Error error = connection_string_invalid().withSentence(reason ? reason : "no memory");
        PQfreemem(reason);
        throw error;
    }
    Settings settings;
    std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> usual(PQconndefaults(), PQconninfoFree);
    for (PQconninfoOption* each = usual.get(); each && each->keyword; ++each) {
        std::string_view keyword = each->keyword;
        if (each->val && (keyword == "host" || keyword == "hostaddr" || keyword == "port" ||
                          keyword == "target_session_attrs" || keyword == "connect_timeout"))
            settings[each->keyword] = each->val;
    }
    for (PQconninfoOption* each = given.get(); each->keyword; ++each)
        if (each->val)
            settings[each->keyword] = each->val;
    settings.try_emplace("client_encoding", "UTF8");
    return settings;
}

std::vector<std::string> split(std::string const& list) {
    std::vector<std::string> parts(1);
    for (char each : list) {
        if (each == ',')
            parts.emplace_back();
        else
            parts.back().push_back(each);
    }
    return parts;
}

std::vector<Host> hostsOf(Settings const& settings) {
    auto listOf = [&](char const* keyword) {
        auto found = settings.find(keyword);
        return split(found == settings.end() ? std::string() : found->second);
    };
    std::vector<std::string> names = listOf("host"), addresses = listOf("hostaddr"), ports = listOf("port");
    std::size_t count = std::max(names.size(), addresses.size());
    auto check = [&](std::vector<std::string>& list, char const* keyword) {
        if (list.size() == 1)
            list.resize(count, list[0]);
        if (list.size() != count)
            throw connection_string_invalid().withSentence(
                format("%zu hosts, and %zu values of %s: give one, or one for each host", count, list.size(), keyword));
    };
    check(names, "host");
    check(addresses, "hostaddr");
    check(ports, "port");
    std::vector<Host> hosts;
    for (std::size_t i = 0; i < count; ++i)
        hosts.push_back({names[i], addresses[i], ports[i]});
    return hosts;
}

/// Makes one attempt: libpq tries all addresses of a host.
Future<OwnedConnection> attempt(Settings settings, Host host) {
    if (host.isName()) {
        auto port = static_cast<std::uint16_t>(std::atoi(host.port.c_str()));
        Future<std::vector<Address>> resolving = transport().resolver().resolve(host.name, port);
        std::vector<Address> found = co_await std::move(resolving);
        std::string names;
        for (Address const& each : found) {
            names += (names.empty() ? "" : ",") + host.name;
            host.address += (host.address.empty() ? "" : ",") + each.hostToString();
        }
        host.name = names;
    }
    settings["host"] = host.name;
    settings["hostaddr"] = host.address;
    settings["port"] = host.port;
    std::vector<char const*> keywords, values;
    for (auto const& [keyword, value] : settings) {
        keywords.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    OwnedConnection connection(PQconnectStartParams(keywords.data(), values.data(), 0));
    if (!connection)
        throw std::bad_alloc();
    PGconn* raw = connection.get();
    bool isConnected = false;
    if (PQstatus(raw) != CONNECTION_BAD) {
        Future<bool> polling =
            internals::pollToEnd([raw] { return PQconnectPoll(raw); }, [raw] { return PQsocket(raw); });
        isConnected = co_await std::move(polling);
    }
    if (!isConnected)
        throw errorOf("", PQerrorMessage(raw));
    co_return connection;
}

} // namespace

Future<Reference<internals::Link>> internals::connectLink(std::string url, Options options) {
    check(options);
    Settings settings = settingsOf(url);
    std::vector<Host> hosts = hostsOf(settings);
    double seconds = options.connectTimeout;
    if (auto found = settings.find("connect_timeout"); found != settings.end() && std::atoi(found->second.c_str()) > 0)
        seconds = std::atoi(found->second.c_str());
    // libpq compares each host with target_session_attrs. Only this one needs two rounds.
    std::vector<std::string> rounds{settings["target_session_attrs"]};
    if (rounds[0] == "prefer-standby")
        rounds = {"standby", "any"};
    Error last;
    std::string reasons;
    for (std::string const& wanted : rounds) {
        settings["target_session_attrs"] = wanted;
        if (wanted.empty())
            settings.erase("target_session_attrs");
        for (Host const& host : hosts) {
            try {
                Future<OwnedConnection> trying = timeoutError(attempt(settings, host), seconds);
                OwnedConnection made = co_await std::move(trying);
                co_return makeReference<Link>(std::move(made), options);
            } catch (Error& error) {
                if (error == actor_cancelled())
                    throw;
                last = error;
            }
            std::string where = host.name.empty() ? host.address : host.name;
            std::string what = last.code() == error_code_timed_out
                                   ? format("%s: no connection in %g seconds", where.c_str(), seconds)
                                   : std::string(last.what());
            reasons += (reasons.empty() ? "" : "; ") + what;
        }
    }
    throw errorOf("", reasons);
}

Future<Connection> connect(std::string url, Options options) {
    Future<Reference<internals::Link>> connecting = internals::connectLink(std::move(url), options);
    internals::Use use(co_await std::move(connecting));
    co_return Connection(std::move(use));
}

} // namespace flow::net::postgres
