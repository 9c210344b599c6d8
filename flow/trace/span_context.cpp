#include "flow/trace/span_context.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace flow::trace {
namespace {

constexpr std::size_t kBytes = 55; // of a traceparent of the version 00

// Vectors of 16 bytes: 16 characters are read at once. A loop over the digits takes three times as long.
using Chars [[gnu::vector_size(16)]] = std::uint8_t;
using Pairs [[gnu::vector_size(16)]] = std::uint16_t;
using Octets [[gnu::vector_size(8)]] = std::uint8_t;

Chars charsAt(char const* text) {
    Chars chars;
    std::memcpy(&chars, text, sizeof(chars));
    return chars;
}

/// Reads 16 lower-case hexadecimal digits. Sets one of the upper four bits in a byte of `seen` if there is another
/// character.
std::uint64_t number(Chars chars, Chars& seen) {
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    // `digits` has the values of digits, `letters` those of letters; each other character gets 16 or more in both. Two
    // bounds keep the last additions from giving a wrong character a small value: 6 + 10 is 16, and 245 + 10 is 255.
    Chars fromDigits = chars + (0xFF - '9'), fromLetters = chars - 'a';
    Chars digits = (fromDigits > 6 ? fromDigits : Chars{} + 6) + 10;
    Chars letters = (fromLetters < 245 ? fromLetters : Chars{} + 245) + 10;
    Chars values = digits < letters ? digits : letters;
    seen |= values;
    auto pairs = std::bit_cast<Pairs>(values);
    Pairs joined = kIsLittle ? pairs * 0x1001 >> 8 : pairs >> 4 | pairs;
    auto number = std::bit_cast<std::uint64_t>(__builtin_convertvector(joined, Octets));
    return kIsLittle ? __builtin_bswap64(number) : number;
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
/// Returns the value of two lower-case hexadecimal digits; more than 255 if there is another character.
unsigned octet(char high, char low) {
    auto value = [](char c) { return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0x100; };
    return static_cast<unsigned>(value(high) << 4 | value(low));
}

bool isLetter(char c) {
    return c >= 'a' && c <= 'z';
}
/// True for a part of a key: `most` characters, which begin with a letter or, if `mayBeDigit`, with a digit.
bool isName(std::string_view name, std::size_t most, bool mayBeDigit) {
    return !name.empty() && name.size() <= most && (isLetter(name[0]) || (mayBeDigit && isDigit(name[0]))) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '*' || c == '/';
           });
}
bool isKey(std::string_view key) {
    std::size_t at = key.find('@');
    return at == std::string_view::npos ? isName(key, 256, false)
                                        : isName(key.substr(0, at), 241, true) && isName(key.substr(at + 1), 14, false);
}
bool isValue(std::string_view value) {
    return !value.empty() && value.size() <= 256 && value.back() != ' ' &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view keyOf(std::string_view member) {
    return member.substr(0, member.find('='));
}

std::string joined(std::vector<std::string_view> const& members) {
    std::string text;
    for (std::string_view each : members)
        text.append(text.empty() ? 0 : 1, ',').append(each);
    return text;
}

/// Returns the member without the blanks around it.
std::string_view trimmed(std::string_view member) {
    constexpr std::string_view kBlanks = " \t";
    std::size_t begin = member.find_first_not_of(kBlanks);
    return begin == std::string_view::npos ? std::string_view()
                                           : member.substr(begin, member.find_last_not_of(kBlanks) + 1 - begin);
}

} // namespace

std::optional<SpanContext> SpanContext::parse(std::string_view text, std::string_view tracestate) {
    if (text.size() < kBytes || text[2] != '-' || text[35] != '-' || text[52] != '-')
        return {};
    Chars seen = {};
    unsigned version = octet(text[0], text[1]), flags = octet(text[53], text[54]);
    UID trace(number(charsAt(&text[3]), seen), number(charsAt(&text[19]), seen));
    std::uint64_t span = number(charsAt(&text[36]), seen);
    auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(seen & 0xF0);
    if ((halves[0] | halves[1]) != 0 || version >= 0xFF || flags > 0xFF || !trace.isValid() || span == 0)
        return {};
    if (text.size() > kBytes && (version == 0 || text[kBytes] != '-'))
        return {};
    auto context = std::make_optional<SpanContext>(trace, span, (flags & 1) != 0);
    if (!tracestate.empty())
        context->state = checkedTracestate(tracestate);
    return context;
}

std::string SpanContext::traceparent() const {
    return "00-" + traceId.toString() + "-" + spanIdText() + (isSampled ? "-01" : "-00");
}

std::string checkedTracestate(std::string_view text) {
    std::vector<std::string_view> members;
    std::size_t bytes = 0; // with a comma behind each member
    for (bool isLast = false; !isLast;) {
        std::size_t comma = text.find(',');
        isLast = comma == std::string_view::npos;
        std::string_view member = trimmed(text.substr(0, comma));
        if (!isLast)
            text.remove_prefix(comma + 1);
        if (member.empty())
            continue;
        std::string_view key = keyOf(member);
        if (key.size() == member.size() || !isKey(key) || !isValue(member.substr(key.size() + 1)) ||
            members.size() == SpanContext::kStateMembers ||
            std::any_of(members.begin(), members.end(), [&](auto each) { return keyOf(each) == key; }))
            return {};
        members.push_back(member);
        bytes += member.size() + 1;
    }
    while (bytes > SpanContext::kStateBytes + 1) {
        auto large = std::find_if(members.rbegin(), members.rend(), [](auto each) { return each.size() > 128; });
        auto dropped = large != members.rend() ? std::next(large).base() : std::prev(members.end());
        bytes -= dropped->size() + 1;
        members.erase(dropped);
    }
    return joined(members);
}

} // namespace flow::trace
