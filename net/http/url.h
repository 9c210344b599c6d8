#pragma once
// Url: an http:// or https:// URL in its parts.
//
//     Url url = Url::parse("https://example.org/jobs/7?full=1");
//     url.host;                                     // "example.org"
//     url.target;                                   // "/jobs/7?full=1", as in a request line
//     Url next = url.resolve("../users");           // "https://example.org/users": a link, or a redirect's Location
//
// parse() is strict (RFC 3986). It refuses text that servers, proxies and browsers read in different ways: a user
// before the host ("http://a@b/"), a backslash, a blank, bytes that are not ASCII, a "%" without two hexadecimal
// digits, a host that ends in a number and is no IPv4 address ("127.1"), and an IPv6 address with a zone. Other bytes
// must be percent-encoded ("%20"). The fragment ("#top") is dropped, since it is not sent.
//
// Errors: connection_string_invalid. what() has the text and the position:
//     the URL "http://a b/" is wrong at byte 8: a host has letters, digits, "-", "." and "_"

#include <cstdint>
#include <string>
#include <string_view>

namespace flow::net::http {

struct Url {
    bool isSecure = false;    // "https"
    std::string host;         // in lower case; an IPv6 address without brackets
    std::uint16_t port = 80;  // 443 if the URL is secure and names no port
    std::string target = "/"; // the path and the query

    static Url parse(std::string_view text);
    /// Returns the URL that `reference` means in a document at this URL (RFC 3986, 5.2): "https://a/b", "//a/b", "/b",
    /// "b", "../b", "?q" or "".
    Url resolve(std::string_view reference) const;

    /// Returns "example.org:80" or "[::1]:80".
    std::string hostAndPort() const;
    /// Returns the value of Host: "example.org", "example.org:8080", "[::1]:80". A default port is left out.
    std::string authority() const;
    /// Returns "https://example.org:443": equal for URLs with the same scheme, host and port.
    std::string origin() const;
    std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
    std::string toString() const;

    friend bool operator==(Url const&, Url const&) = default;
};

} // namespace flow::net::http
