#include "net/http/detail/response_head.h"

#include "flow/base/parse_number.h"
#include "net/http/detail/syntax.h"

#include <charconv>

namespace flow::net::http::detail {
namespace {

void appendNumber(std::string& out, std::uint64_t number) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

bool mayHaveBody(Response const& response) {
    return !response.upgrade && response.status != 204 && response.status != 304;
}

} // namespace

ResponseHead writeResponseHead(std::string& out, Response const& response, std::string_view method, Version version,
                               bool closes, std::string_view date) {
    ResponseHead head;
    head.closes = closes;
    bool upgrades = static_cast<bool>(response.upgrade), isSuccess = response.status / 100 == 2;
    bool isAllowed = upgrades ? response.status == 101 || (isSuccess && method == "CONNECT")
                              : response.status >= 200 && response.status <= 999;
    if (!isAllowed) {
        head.mistake = "its status is not in 200 .. 999, and it is no upgrade with status 101";
        return head;
    }
    out += "HTTP/1.1 ";
    appendNumber(out, static_cast<std::uint64_t>(response.status));
    out += ' ';
    out += reasonOf(response.status);
    out += "\r\n";
    std::optional<std::uint64_t> given;
    for (Headers::Field const& field : response.headers) {
        if (isSameName(field.name, "Connection") && !upgrades) {
            head.closes = head.closes || response.headers.hasToken("Connection", "close");
            continue;
        }
        if (isSameName(field.name, "Date"))
            date = {};
        if (isSameName(field.name, "Transfer-Encoding"))
            head.mistake = "it has a Transfer-Encoding";
        if (isSameName(field.name, "Content-Length")) {
            if (given)
                head.mistake = "it has several lengths";
            given = parseNumber<std::uint64_t>(field.value);
            if (!given)
                head.mistake = "its Content-Length is no number";
            continue;
        }
        out += field.name;
        out += ": ";
        out += field.value;
        out += "\r\n";
    }
    out += date;
    std::optional<std::uint64_t> size = response.body.size();
    bool isHead = method == "HEAD";
    if (given && size && *given != *size && !((isHead || response.status == 304) && *size == 0))
        head.mistake = "its Content-Length is not the length of its body";
    if (given)
        size = given;
    head.hasBody = !isHead && mayHaveBody(response);
    if (head.hasBody && !size) {
        head.framed = version == Version::Http10 ? Framed::Plain : Framed::Chunked;
        head.closes = head.closes || version == Version::Http10;
    }
    if (head.framed == Framed::Chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else if (size && (head.hasBody || given || (isHead && *size != 0))) {
        out += "Content-Length: ";
        appendNumber(out, *size);
        out += "\r\n";
    }
    if (!upgrades && head.closes)
        out += "Connection: close\r\n";
    else if (!upgrades && version == Version::Http10)
        out += "Connection: keep-alive\r\n";
    out += "\r\n";
    return head;
}

} // namespace flow::net::http::detail
