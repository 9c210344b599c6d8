#include "flow/base/assert.h"

#include "flow/base/assert_macros.h"
#include "flow/base/error.h"
#include "flow/diag/program_call.h"
#include "flow/diag/symbol.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace flow {
namespace {

std::atomic<AssertionHandler> assertionHandler{nullptr};

/// The place of an assertion may be in the library. This prints the program's function that called it; and where,
/// unless that is known already.
void reportCaller(bool isPlaceKnown) noexcept try {
    ProgramCall call = findProgramCall(!isPlaceKnown);
    if (call.function.empty())
        return;
    std::string place = isPlaceKnown ? "" : call.place.empty() ? " (" + call.command + ")" : " at " + call.place;
    std::fprintf(stderr, "flow:   called by %s%s\n", call.function.c_str(), place.c_str());
} catch (std::bad_alloc const&) {
}

enum class ReportsCaller : std::uint8_t { No, Function, Place };

void report(const char* message, const char* file, int line, ReportsCaller caller) noexcept {
    char actor[512] = "";
    if (detail::runningActor)
        actorNameAt(detail::runningActor, actor, sizeof actor);
    std::fprintf(stderr, "flow: assertion failed: %s at %s:%d\n", message, file, line);
    if (actor[0] != '\0')
        std::fprintf(stderr, "flow:   in actor %s\n", actor);
    if (caller != ReportsCaller::No)
        reportCaller(caller == ReportsCaller::Function);
    if (AssertionHandler handler = assertionHandler.load())
        handler(message, file, line, actor);
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
    if (isKnown)
        report(text, caller.file_name(), static_cast<int>(caller.line()), ReportsCaller::Function);
    else
        report(text, file, line, ReportsCaller::Place);
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
