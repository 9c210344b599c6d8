#include "flow/trace/detail/date.h"

#include "flow/loop/loop.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace flow::trace {
namespace {

void writeDigits(char* end, std::int64_t number, int count) {
    for (; count > 0; --count, number /= 10)
        *--end = static_cast<char>('0' + number % 10);
}

struct DateText {
    char text[32] = "0000-00-00T00:00:00.000000Z";
    std::int64_t minute = std::numeric_limits<std::int64_t>::min();
    std::int64_t second = std::numeric_limits<std::int64_t>::min();
};

constinit thread_local DateText keptDate;

} // namespace

// Not CLOCK_REALTIME_COARSE: it stands still for 4 ms, and saves only about 20 ns of several hundreds per event.
std::int64_t currentDate() {
    if (hasLoop())
        return std::llround(Loop::current().wallTime() * 1e6);
    timespec time;
    ::clock_gettime(CLOCK_REALTIME, &time); // nondeterminism: code of a simulation has a loop
    return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

void appendDate(std::string& out, std::int64_t microseconds) {
    constexpr std::int64_t kLast = 253402300799'999999; // the end of the year 9999
    microseconds = std::clamp<std::int64_t>(microseconds, 0, kLast);
    std::int64_t second = microseconds / 1'000'000;
    if (second != keptDate.second) {
        keptDate.second = second;
        if (std::int64_t minute = second / 60; minute != keptDate.minute) {
            keptDate.minute = minute;
            std::time_t seconds = second;
            std::tm date;
            ::gmtime_r(&seconds, &date); // nondeterminism: reads no clock
            writeDigits(keptDate.text + 4, date.tm_year + 1900, 4);
            writeDigits(keptDate.text + 7, date.tm_mon + 1, 2);
            writeDigits(keptDate.text + 10, date.tm_mday, 2);
            writeDigits(keptDate.text + 13, date.tm_hour, 2);
            writeDigits(keptDate.text + 16, date.tm_min, 2);
        }
        writeDigits(keptDate.text + 19, second % 60, 2);
    }
    writeDigits(keptDate.text + 26, microseconds % 1'000'000, 6);
    out.append(keptDate.text, 27);
}

} // namespace flow::trace
