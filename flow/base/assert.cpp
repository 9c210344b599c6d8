#include "flow/base/assert.h"

#include "flow/base/assert_macros.h"
#include "flow/base/error.h"
#include "flow/diag/detail/program_call.h"
#include "flow/diag/detail/symbol.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace flow {
namespace {

std::atomic<AssertionHandler> assertionHandler{nullptr};

struct Place {
    char file[1024];
    int line;
};

/// Prints the function of the program that has the failed assertion, or that called the library. Prints the place of
/// this call too, and stores it in `place`. If the call is not found, prints `place` (unless it is in the program).
void reportCaller(Place& place, bool isInProgram) noexcept try {
    ProgramCall call = findProgramCall(!isInProgram);
    if (call.place.empty()) {
        if (!call.function.empty())
            std::fprintf(stderr, "flow:   called by %s%s\n", call.function.c_str(),
                         isInProgram ? "" : (" (" + call.command + ")").c_str());
        if (!isInProgram)
            std::fprintf(stderr, "flow:   checked at %s:%d\n", place.file, place.line);
        return;
    }
    std::fprintf(stderr, "flow:   called by %s at %s\n", call.function.c_str(), call.place.c_str());
    std::size_t colon = call.place.rfind(':');
    std::snprintf(place.file, sizeof place.file, "%s", call.place.substr(0, colon).c_str());
    place.line = std::atoi(call.place.c_str() + colon + 1);
} catch (std::bad_alloc const&) {
}

enum class ReportsCaller : std::uint8_t { No, Yes };

void report(const char* message, const char* file, int line, ReportsCaller reportsCaller) noexcept {
    char actor[512] = "";
    if (detail::runningActor)
        actorNameAt(detail::runningActor, actor, sizeof actor);
    bool isInProgram = reportsCaller == ReportsCaller::No || !isOfLibrary(file);
    // The message is printed first, because the search for the caller may fail.
    if (isInProgram)
        std::fprintf(stderr, "flow: assertion failed: %s at %s:%d\n", message, file, line);
    else
        std::fprintf(stderr, "flow: assertion failed: %s\n", message);
    if (actor[0] != '\0')
        std::fprintf(stderr, "flow:   in actor %s\n", actor);
    Place place{"", line};
    std::snprintf(place.file, sizeof place.file, "%s", file);
    if (reportsCaller == ReportsCaller::Yes)
        reportCaller(place, isInProgram);
    if (AssertionHandler handler = assertionHandler.load())
        handler(message, place.file, place.line, actor);
}

} // namespace

AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept {
    return assertionHandler.exchange(handler);
}

namespace detail {

void assertionFailed(const char* condition, const char* message, const char* file, int line, Caller caller) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, "%s [%s]", message, condition);
    bool isKnown = caller.line() != 0;
    report(text, isKnown ? caller.file_name() : file, isKnown ? static_cast<int>(caller.line()) : line,
           ReportsCaller::Yes);
    std::abort();
}

void reportBreach(const char* condition, const char* values, const char* file, int line) noexcept {
    char text[1024];
    std::snprintf(text, sizeof text, values ? "%s: %s" : "%s", condition, values);
    report(text, file, line, ReportsCaller::No);
}

void throwBreach(const char* condition, const char* values, const char* file, int line) {
    reportBreach(condition, values, file, line);
    throw internal_error();
}

} // namespace detail
} // namespace flow
