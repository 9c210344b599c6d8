#include "net/http/detail/ranges.h"

#include "net/http/detail/syntax.h"

#include <algorithm>
#include <limits>

namespace flow::net::http::detail {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

/// Returns the number, at most kLargest; nothing if the text is not all digits.
std::optional<std::uint64_t> digits(std::string_view text) {
    std::uint64_t number = 0;
    for (char c : text) {
        if (c < '0' || c > '9')
            return std::nullopt;
        bool isTooLarge = __builtin_mul_overflow(number, std::uint64_t{10}, &number) ||
                          __builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number);
        if (isTooLarge)
            number = kLargest / 10 * 10 + 9; // saturates: another digit overflows again
    }
    return text.empty() ? std::nullopt : std::optional(number);
}

/// Parses "first-last", "first-" or "-count", and adds the part inside of the file, if any. False: the text is invalid.
bool addRange(std::vector<ByteRange>& to, std::string_view text, std::uint64_t size) {
    std::size_t dash = text.find('-');
    if (dash == std::string_view::npos)
        return false;
    auto first = digits(text.substr(0, dash)), last = digits(text.substr(dash + 1));
    if ((!first && dash != 0) || (!last && dash + 1 != text.size()) || (!first && !last))
        return false;
    if (!first) { // the last bytes
        std::uint64_t count = std::min(*last, size);
        if (count != 0)
            to.push_back({size - count, count});
        return true;
    }
    if (last && *last < *first)
        return false;
    if (*first < size)
        to.push_back({*first, std::min(last.value_or(kLargest), size - 1) - *first + 1});
    return true;
}

} // namespace

std::optional<std::vector<ByteRange>> parseRanges(std::string_view field, std::uint64_t size, std::size_t most) {
    constexpr std::string_view kUnit = "bytes=";
    if (!isSameName(field.substr(0, kUnit.size()), kUnit))
        return std::nullopt;
    std::vector<ByteRange> ranges;
    std::size_t count = 0;
    bool isWrong = anyElement(field.substr(kUnit.size()), [&](std::string_view range) {
        if (range.empty()) // RFC 9110, 5.6.1: a list may have empty elements
            return false;
        return ++count > most || !addRange(ranges, range, size);
    });
    std::uint64_t bytes = 0;
    for (ByteRange const& each : ranges)
        bytes += std::min(each.size, kLargest - bytes);
    return isWrong || count == 0 || bytes > size ? std::nullopt : std::optional(std::move(ranges));
}

} // namespace flow::net::http::detail
