#include "net/http/url.h"

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/base/parse_number.h"
#include "flow/memory/string_ref.h"
#include "net/address.h"
#include "net/http/detail/syntax.h"

#include <algorithm>

namespace flow::net::http {
namespace {

struct UrlParser {
    std::string_view text;
    std::size_t at = 0;

    static bool isDigit(char c) { return c >= '0' && c <= '9'; }
    static bool isHex(char c) { return detail::hexDigit(c) >= 0; }
    static bool isAlnum(char c) { return isDigit(c) || (detail::lower(c) >= 'a' && detail::lower(c) <= 'z'); }

    [[noreturn]] void fail(char const* rule) const {
        std::string shown = printable(text.substr(0, 200)); // without control characters for a terminal
        throw connection_string_invalid().withSentence(
            format("the URL \"%s\" is wrong at byte %zu: %s", shown.c_str(), at, rule));
    }
    bool skip(std::string_view what) {
        if (!text.substr(at).starts_with(what))
            return false;
        at += what.size();
        return true;
    }
    std::string_view until(std::string_view ends) {
        std::size_t begin = at;
        at = std::min(text.find_first_of(ends, begin), text.size());
        return text.substr(begin, at - begin);
    }

    /// Parses a scheme into `url`. Returns false if there is none: a colon after a slash belongs to the path.
    bool scheme(Url& url) {
        std::size_t colon = text.find_first_of(":/?#");
        if (colon == std::string_view::npos || text[colon] != ':')
            return false;
        std::string name(text.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(), detail::lower);
        url.isSecure = name == "https";
        if (!url.isSecure && name != "http")
            fail("the scheme is neither http nor https");
        at = colon + 1;
        return true;
    }
    void authority(Url& url) {
        std::size_t begin = at;
        std::string_view whole = until("/?#");
        if (std::size_t user = whole.find('@'); user != std::string_view::npos) {
            at = begin + user;
            fail("a user before the host is not allowed");
        }
        std::size_t end = at;
        at = begin;
        url.host = skip("[") ? v6(end) : name(end);
        url.port = url.isSecure ? 443 : 80;
        if (!skip(":") || at == end)
            return;
        auto port = parseNumber<std::uint16_t>(text.substr(at, end - at));
        if (!port || *port == 0)
            fail("a port is a number from 1 to 65535");
        url.port = *port;
        at = end;
    }
    std::string v6(std::size_t end) {
        std::size_t close = std::min(text.find(']', at), end);
        std::string host(text.substr(at, close - at));
        ParsedAddress address = Address::parse("[" + host + "]:1");
        if (close == end || host.find('%') != std::string::npos || !address)
            fail("an IPv6 address and \"]\" are expected behind \"[\"");
        at = close + 1;
        if (at != end && text[at] != ':')
            fail("a port or the end of the host is expected behind \"]\"");
        return address->hostToString();
    }
    std::string name(std::size_t end) {
        std::string host;
        for (; at < end && text[at] != ':'; ++at) {
            if (!isAlnum(text[at]) && std::string_view("-._").find(text[at]) == std::string_view::npos)
                fail("a host has letters, digits, \"-\", \".\" and \"_\"");
            host += detail::lower(text[at]);
        }
        if (host.empty() || host == "." || host.size() > 253)
            fail("a host has 1 to 253 bytes");
        std::string_view last = std::string_view(host).substr(host.find_last_of('.', host.size() - 2) + 1);
        last = last.substr(0, last.find('.'));
        bool isHexNumber = last.starts_with("0x") && std::all_of(last.begin() + 2, last.end(), isHex);
        if ((isHexNumber || std::all_of(last.begin(), last.end(), isDigit)) && !Address::parse(host + ":1"))
            fail("a host that ends in a number must be an IPv4 address");
        return host;
    }
    /// Returns the path and the query, up to the end or "#". May be empty.
    std::string_view target() {
        std::size_t begin = at;
        for (; at < text.size() && text[at] != '#'; ++at) {
            char c = text[at];
            if (c == '%' && (at + 2 >= text.size() || !isHex(text[at + 1]) || !isHex(text[at + 2])))
                fail("\"%\" needs two hexadecimal digits");
            if (!isAlnum(c) && std::string_view("-._~!$&'()*+,;=:@/?%").find(c) == std::string_view::npos)
                fail("this byte must be written as %XX");
        }
        return text.substr(begin, at - begin);
    }
};

/// Removes the dot segments (RFC 3986, 5.2.4). `target` begins with "/".
std::string withoutDots(std::string const& target) {
    std::string_view path = std::string_view(target).substr(0, target.find('?'));
    std::string out;
    for (std::size_t at = 0; at < path.size();) {
        std::size_t end = std::min(path.find('/', at + 1), path.size());
        std::string_view segment = path.substr(at, end - at);
        bool isLast = end == path.size();
        if (segment == "/..")
            out.resize(out.empty() ? 0 : out.rfind('/'));
        else if (segment != "/.")
            out += segment;
        if (isLast && (segment == "/.." || segment == "/."))
            out += '/';
        at = end;
    }
    return out + target.substr(path.size());
}

} // namespace

Url Url::parse(std::string_view text) {
    UrlParser parser{text};
    Url url;
    if (!parser.scheme(url) || !parser.skip("//"))
        parser.fail("http:// or https:// is expected");
    parser.authority(url);
    std::string_view target = parser.target();
    url.target = target.starts_with('/') ? "" : "/";
    url.target += target;
    return url;
}

Url Url::resolve(std::string_view reference) const {
    UrlParser parser{reference};
    Url url = *this;
    bool hasScheme = parser.scheme(url), hasHost = parser.skip("//");
    if (hasHost)
        parser.authority(url);
    else if (hasScheme)
        parser.fail("// is expected behind the scheme");
    std::string_view rest = parser.target();
    if (rest.starts_with('/'))
        url.target = rest;
    else if (hasHost)
        url.target = "/" + std::string(rest);
    else if (rest.starts_with('?'))
        url.target = std::string(path()) + std::string(rest);
    else if (!rest.empty())
        url.target = std::string(path().substr(0, path().rfind('/') + 1)) + std::string(rest);
    url.target = withoutDots(url.target);
    return url;
}

std::string Url::hostAndPort() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

std::string Url::authority() const {
    std::string text = hostAndPort();
    return port == (isSecure ? 443 : 80) ? text.substr(0, text.rfind(':')) : text;
}

std::string Url::origin() const {
    return (isSecure ? "https://" : "http://") + hostAndPort();
}

std::string Url::toString() const {
    return (isSecure ? "https://" : "http://") + authority() + target;
}

} // namespace flow::net::http
