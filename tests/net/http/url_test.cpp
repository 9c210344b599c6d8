#include "net/http/url.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace flow;
using flow::net::http::Url;

namespace url_test {
namespace {

std::string errorOf(std::string_view text) {
    try {
        return "parsed as " + Url::parse(text).toString();
    } catch (Error& error) {
        CHECK(error == connection_string_invalid());
        return error.what();
    }
}

} // namespace

TEST_CASE("url: its parts") {
    Url url = Url::parse("HTTPS://Example.ORG:8443/a/b%20c?q=1&r=%2F#top");
    CHECK(url.isSecure);
    CHECK(url.host == "example.org");
    CHECK(url.port == 8443);
    CHECK(url.target == "/a/b%20c?q=1&r=%2F");
    CHECK(url.path() == "/a/b%20c");
    CHECK(url.authority() == "example.org:8443");
    CHECK(url.origin() == "https://example.org:8443");
    CHECK(url.toString() == "https://example.org:8443/a/b%20c?q=1&r=%2F");
}

TEST_CASE("url: what is left out") {
    CHECK(Url::parse("http://a") == Url{false, "a", 80, "/"});
    CHECK(Url::parse("https://a") == Url{true, "a", 443, "/"});
    CHECK(Url::parse("http://a?q") == Url{false, "a", 80, "/?q"});
    CHECK(Url::parse("http://a#f?q") == Url{false, "a", 80, "/"});
    CHECK(Url::parse("http://a:/x") == Url{false, "a", 80, "/x"});
    CHECK(Url::parse("http://a:443/").authority() == "a:443");
    CHECK(Url::parse("https://a:443/").authority() == "a");
    CHECK(Url::parse("http://a").origin() == "http://a:80");
}

TEST_CASE("url: hosts") {
    CHECK(Url::parse("http://10.0.0.1/").host == "10.0.0.1");
    CHECK(Url::parse("http://my_host.local./").host == "my_host.local.");
    CHECK(Url::parse("http://1a2b3c/").host == "1a2b3c"); // as containers have
    Url v6 = Url::parse("http://[0:0::1]:8080/x");
    CHECK(v6.host == "::1");
    CHECK(v6.authority() == "[::1]:8080");
    CHECK(v6.origin() == "http://[::1]:8080");
    CHECK(Url::parse(v6.toString()) == v6);
}

TEST_CASE("url: what is no URL, or could be read in two ways") {
    CHECK(errorOf("http://a b/") ==
          "the URL \"http://a b/\" is wrong at byte 8: a host has letters, digits, \"-\", \".\" and \"_\"");
    CHECK(errorOf("ftp://a/") == "the URL \"ftp://a/\" is wrong at byte 0: the scheme is neither http nor https");
    CHECK(errorOf("http://a/\r\n") ==
          "the URL \"http://a/\\x0d\\x0a\" is wrong at byte 9: this byte must be written as %XX");
    CHECK(errorOf("http://a@b/") ==
          "the URL \"http://a@b/\" is wrong at byte 8: a user before the host is not allowed");
    CHECK(errorOf("").starts_with("the URL"));
    CHECK(errorOf(std::string(5000, 'x')).size() < 300);
    std::istringstream lines(
        "a\n//a/\n/a\nhttp:\nhttp:/a\nhttp:a\nhttp://\nhttp:///a\nhttp://:80/\nhttp://?q\nhttp://a:0/\n"
        "http://a:65536/\nhttp://a:8o/\nhttp://a:-1/\nhttp://a:+1/\nhttp://a:80:80/\nhttp://u:p@a/\n"
        "http://@a/\nhttp://a\\b/\nhttp://a/\\b\nhttp://\xc3\xa4/\nhttp://a/\xc3\xa4\nhttp://a/%\n"
        "http://a/%2\nhttp://a/%2x\nhttp://a/?%g0\nhttp://a%41/\nhttp://a/a b\n http://a/\nhttp://a/ \n"
        "http://a/|\nhttp://a/{}\nhttp://a/\x7f\nhttp://a/\"\nhttp://a/<\nhttp://a/\t\nhttp://[::1/\n"
        "http://[::1]x/\nhttp://[::1]]/\nhttp://[]/\nhttp://[1.2.3.4]/\nhttp://[fe80::1%1]/\n"
        "http://::1/\nhttp://127.1/\nhttp://0x7f.1/\nhttp://0x7f/\nhttp://2130706433/\n"
        "http://1.2.3.4.5/\nhttp://256.1.1.1/\nhttp://1.2.3.4./\nhttp://010.0.0.1/\nhttp://a,b/\n"
        "http://./\n");
    for (std::string wrong; std::getline(lines, wrong);) {
        INFO(wrong);
        CHECK(errorOf(wrong).starts_with("the URL"));
    }
    using namespace std::string_view_literals;
    CHECK(errorOf("http://a/\0b"sv) ==
          "the URL \"http://a/\\x00b\" is wrong at byte 9: this byte must be written as %XX");
    CHECK(errorOf("http://" + std::string(254, 'a') + "/").ends_with("a host has 1 to 253 bytes"));
}

TEST_CASE("url: references, as RFC 3986 has them") {
    Url base = Url::parse("http://a/b/c/d;p?q");
    auto to = [&](std::string_view reference) { return base.resolve(reference).toString(); };
    CHECK(to("g") == "http://a/b/c/g");
    CHECK(to("./g") == "http://a/b/c/g");
    CHECK(to("g/") == "http://a/b/c/g/");
    CHECK(to("/g") == "http://a/g");
    CHECK(to("//g") == "http://g/");
    CHECK(to("?y") == "http://a/b/c/d;p?y");
    CHECK(to("g?y") == "http://a/b/c/g?y");
    CHECK(to("#s") == "http://a/b/c/d;p?q");
    CHECK(to("g?y#s") == "http://a/b/c/g?y");
    CHECK(to(";x") == "http://a/b/c/;x");
    CHECK(to("") == "http://a/b/c/d;p?q");
    CHECK(to(".") == "http://a/b/c/");
    CHECK(to("./") == "http://a/b/c/");
    CHECK(to("..") == "http://a/b/");
    CHECK(to("../g") == "http://a/b/g");
    CHECK(to("../..") == "http://a/");
    CHECK(to("../../g") == "http://a/g");
    CHECK(to("../../../../g") == "http://a/g");
    CHECK(to("/./g") == "http://a/g");
    CHECK(to("/../g") == "http://a/g");
}

TEST_CASE("url: references, with dots and of other kinds") {
    Url base = Url::parse("http://a/b/c/d;p?q");
    auto to = [&](std::string_view reference) { return base.resolve(reference).toString(); };
    CHECK(to("g.") == "http://a/b/c/g.");
    CHECK(to("..g") == "http://a/b/c/..g");
    CHECK(to("./../g") == "http://a/b/g");
    CHECK(to("g/./h") == "http://a/b/c/g/h");
    CHECK(to("g/../h") == "http://a/b/c/h");
    CHECK(to("g?y/../x") == "http://a/b/c/g?y/../x");
    CHECK(to("https://b:1/x/../y") == "https://b:1/y");
    CHECK(to("//b?q") == "http://b/?q");
    CHECK(to("/a:b") == "http://a/a:b");
    CHECK(Url::parse("https://a:8443/x").resolve("/y").toString() == "https://a:8443/y");
    CHECK(Url::parse("https://a:8443/x").resolve("//b/").toString() == "https://b/");
    CHECK(Url::parse("https://a:8443/x").resolve("http://b/").toString() == "http://b/");
    CHECK(Url::parse("http://a").resolve("g").toString() == "http://a/g");
    for (char const* wrong : {"http:g", "ftp://a/", "mailto:a@b", "//", "/a b", "//u@b/", "javascript:1", "\\\\b\\"}) {
        INFO(wrong);
        CHECK_THROWS_AS((void)base.resolve(wrong), Error);
    }
}

} // namespace url_test
