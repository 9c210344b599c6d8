#include "net/http/message.h"

#include "net/http/detail/syntax.h"

#include <algorithm>
#include <array>

namespace flow::net::http {
namespace {

/// Returns the target without its scheme and host.
std::string_view fromPath(std::string_view target) {
    std::size_t scheme = target.starts_with('/') ? std::string_view::npos : target.find("://");
    if (scheme == std::string_view::npos)
        return target;
    std::size_t end = target.find_first_of("/?", scheme + 3);
    return end == std::string_view::npos ? std::string_view() : target.substr(end);
}

} // namespace

std::string_view PathParameters::operator[](std::string_view name) const {
    for (auto const& [each, value] : all_)
        if (each == name)
            return value;
    return {};
}

std::string_view pathOfTarget(std::string_view target) {
    std::string_view path = fromPath(target);
    path = path.substr(0, path.find('?'));
    return path.empty() ? "/" : path;
}

std::string_view queryOfTarget(std::string_view target) {
    std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

std::optional<std::string> decodePercent(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < text.size() ? detail::hexDigit(text[i + 1]) : -1,
                low = high < 0 ? -1 : detail::hexDigit(text[i + 2]);
            if (low < 0)
                return {};
            c = static_cast<char>(high << 4 | low);
            i += 2;
        }
        decoded += c;
    }
    return decoded;
}

std::optional<std::string> Request::parameter(std::string_view name) const {
    for (std::string_view rest = queryOfTarget(target); !rest.empty();) {
        std::string part(rest.substr(0, rest.find('&')));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        std::replace(part.begin(), part.end(), '+', ' ');
        std::size_t equal = std::min(part.find('='), part.size());
        if (decodePercent(part.substr(0, equal)) == name)
            return decodePercent(part.substr(std::min(equal + 1, part.size())));
    }
    return {};
}

std::string_view reasonOf(int status) {
    struct Reason {
        int status;
        std::string_view words;
    };
    static constexpr std::array<Reason, 43> kReasons = {{{100, "Continue"},
                                                         {101, "Switching Protocols"},
                                                         {103, "Early Hints"},
                                                         {200, "OK"},
                                                         {201, "Created"},
                                                         {202, "Accepted"},
                                                         {203, "Non-Authoritative Information"},
                                                         {204, "No Content"},
                                                         {205, "Reset Content"},
                                                         {206, "Partial Content"},
                                                         {300, "Multiple Choices"},
                                                         {301, "Moved Permanently"},
                                                         {302, "Found"},
                                                         {303, "See Other"},
                                                         {304, "Not Modified"},
                                                         {307, "Temporary Redirect"},
                                                         {308, "Permanent Redirect"},
                                                         {400, "Bad Request"},
                                                         {401, "Unauthorized"},
                                                         {403, "Forbidden"},
                                                         {404, "Not Found"},
                                                         {405, "Method Not Allowed"},
                                                         {406, "Not Acceptable"},
                                                         {408, "Request Timeout"},
                                                         {409, "Conflict"},
                                                         {410, "Gone"},
                                                         {411, "Length Required"},
                                                         {412, "Precondition Failed"},
                                                         {413, "Content Too Large"},
                                                         {414, "URI Too Long"},
                                                         {415, "Unsupported Media Type"},
                                                         {416, "Range Not Satisfiable"},
                                                         {417, "Expectation Failed"},
                                                         {422, "Unprocessable Content"},
                                                         {426, "Upgrade Required"},
                                                         {429, "Too Many Requests"},
                                                         {431, "Request Header Fields Too Large"},
                                                         {500, "Internal Server Error"},
                                                         {501, "Not Implemented"},
                                                         {502, "Bad Gateway"},
                                                         {503, "Service Unavailable"},
                                                         {504, "Gateway Timeout"},
                                                         {505, "HTTP Version Not Supported"}}};
    auto at = std::lower_bound(kReasons.begin(), kReasons.end(), status,
                               [](Reason const& each, int wanted) { return each.status < wanted; });
    return at != kReasons.end() && at->status == status ? at->words : std::string_view();
}

} // namespace flow::net::http
