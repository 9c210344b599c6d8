#include "net/http/detail/dates.h"

#include "flow/base/format.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace flow::net::http::detail {
namespace {

constexpr std::array<char const*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<char const*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

struct DateParts {
    int year = 0, day = 0, hour = -1, minute = 0, second = 0;
    std::array<char, 4> month{};
    int end = 0; // number of parsed characters
};

/// Parses one of the three forms. `end` is the length of the text if the whole text was parsed.
void readDate(DateParts& to, char const* text) {
    char* month = to.month.data();
    if (std::sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &to.day, month, &to.year, &to.hour,
                    &to.minute, &to.second, &to.end) == 6 &&
        to.end != 0)
        return;
    if (std::sscanf(text, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &to.day, month, &to.year, &to.hour,
                    &to.minute, &to.second, &to.end) == 6 &&
        to.end != 0) {
        to.year += to.year < 70 ? 2000 : 1900;
        return;
    }
    to.end = 0;
    std::sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month, &to.day, &to.hour, &to.minute, &to.second,
                &to.year, &to.end);
}

} // namespace

std::string httpDate(std::int64_t seconds) {
    std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
    auto day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day date(day);
    std::chrono::hh_mm_ss clock(time - day);
    return format("%s, %02u %s %04d %02d:%02d:%02d GMT", kDays[std::chrono::weekday(day).c_encoding()],
                  static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                  static_cast<int>(date.year()), static_cast<int>(clock.hours().count()),
                  static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
}

std::optional<std::int64_t> parseHttpDate(std::string_view text) {
    DateParts parts;
    std::string whole(text);
    readDate(parts, whole.c_str());
    unsigned month = 0;
    while (month < kMonths.size() && parts.month.data() != std::string_view(kMonths[month]))
        ++month;
    std::chrono::year_month_day date{std::chrono::year(parts.year), std::chrono::month(month + 1),
                                     std::chrono::day(static_cast<unsigned>(parts.day))};
    bool isTime = parts.hour >= 0 && parts.hour < 24 && parts.minute >= 0 && parts.minute < 60 && parts.second >= 0 &&
                  parts.second <= 60; // 60: a leap second
    if (static_cast<std::size_t>(parts.end) != whole.size() || whole.empty() || !date.ok() || !isTime)
        return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count() * std::int64_t{86400} + parts.hour * 3600 +
           parts.minute * 60 + parts.second;
}

} // namespace flow::net::http::detail
