// The console parses HTTP itself, since net cannot use millrace::http, which depends on net.

#include "net/detail/console_request.h"

#include "net/address.h"

#include <algorithm>
#include <strings.h>

namespace flow::console {
namespace {

bool isSameText(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// Returns the values of a field, without the spaces around each.
std::vector<std::string_view> fieldsOf(std::string_view head, std::string_view name) {
    std::vector<std::string_view> values;
    for (std::size_t end = head.find("\r\n"); end != head.npos;) {
        head.remove_prefix(end + 2);
        end = head.find("\r\n");
        std::string_view line = head.substr(0, end);
        std::size_t colon = line.find(':');
        if (colon == line.npos || !isSameText(line.substr(0, colon), name))
            continue;
        line.remove_prefix(colon + 1);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t'))
            line.remove_suffix(1);
        values.push_back(line);
    }
    return values;
}

/// True if `host` is an address, localhost or one of `hosts`, with or without a port.
bool isHere(std::string_view host, std::vector<std::string> const& hosts) {
    bool isBracketed = host.starts_with('[');
    std::size_t colon = host.rfind(':');
    bool hasPort = colon != host.npos && (!isBracketed || host[colon - 1] == ']');
    std::string_view name = hasPort ? host.substr(0, colon) : host;
    auto isName = [&](std::string_view each) { return isSameText(each, name); };
    if (isName("localhost") || std::ranges::any_of(hosts, isName))
        return true;
    net::ParsedAddress address = net::Address::parse(std::string(name) + ":1");
    return address && !address->isUnix();
}

ConsoleAnswer forbidden(char const* why) {
    return {.status = "403 Forbidden", .body = why};
}

} // namespace

std::optional<ConsoleAnswer> readRequest(std::string_view head, ConsoleRequest& request) {
    std::string_view line = head.substr(0, head.find("\r\n"));
    std::size_t methodEnd = line.find(' ');
    std::size_t targetEnd = line.find(' ', methodEnd + 1);
    if (methodEnd == line.npos || targetEnd == line.npos || line.substr(targetEnd + 1, 7) != "HTTP/1.")
        return ConsoleAnswer{.status = "400 Bad Request", .body = "this is no request of HTTP\n"};
    if (line.substr(0, methodEnd) != "GET")
        return ConsoleAnswer{.status = "405 Method Not Allowed", .body = "only GET\n"};
    std::string_view target = line.substr(methodEnd + 1, targetEnd - methodEnd - 1);
    request.path = target.substr(0, target.find('?'));
    request.query = request.path.size() < target.size() ? target.substr(request.path.size() + 1) : std::string_view();
    return std::nullopt;
}

std::optional<ConsoleAnswer> refuseForeign(std::string_view head, std::vector<std::string> const& hosts) {
    std::vector<std::string_view> host = fieldsOf(head, "Host");
    if (host.size() != 1 || !isHere(host[0], hosts))
        return forbidden("the field Host must be an address, localhost or a name that servePrometheus() was given\n");
    for (std::string_view site : fieldsOf(head, "Sec-Fetch-Site"))
        if (isSameText(site, "cross-site"))
            return forbidden("a page of another site may not read this\n");
    for (std::string_view origin : fieldsOf(head, "Origin"))
        if (!isSameText(origin, "http://" + std::string(host[0])))
            return forbidden("a page of another origin may not read this\n");
    return std::nullopt;
}

} // namespace flow::console
