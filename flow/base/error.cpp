#include "flow/base/error.h"

#include "flow/base/symbol.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>

namespace flow {
namespace {

struct Entry {
    int code;
    const char* name;
    const char* description;
};

constexpr Entry kTable[] = {
#define FLOW_ERROR(name, code, description) {code, #name, description},
    FLOW_ERROR_TABLE(FLOW_ERROR)
#undef FLOW_ERROR
};

constexpr Entry kApplication{-1, "application_error", "an error that the application defines"};

const Entry& entryOf(int code) {
    for (const Entry& entry : kTable)
        if (entry.code == code)
            return entry;
    return kApplication;
}

thread_local char unknownText[256];

void keepUnknown(const char* text) {
    std::snprintf(unknownText, sizeof unknownText, "%s", text);
}

void printDropped(const char* where, Error error) {
    std::fprintf(stderr, "flow: error %s (%d) dropped by %s: %s\n", error.name(), error.code(), where, error.what());
}

std::atomic<DroppedErrorHandler> droppedHandler{printDropped};

} // namespace

const char* Error::name() const {
    return entryOf(code_).name;
}

const char* Error::what() const {
    return entryOf(code_).description;
}

Error currentError() noexcept {
    try {
        throw;
    } catch (Error const& error) {
        if (error.isValid())
            return error;
        keepUnknown("an Error that says success"); // as a result it would be taken for a value
    } catch (std::exception const& other) {
        keepUnknown(other.what());
    } catch (...) {
        keepUnknown("an exception of unknown type");
    }
    return unknown_error();
}

const char* lastUnknownError() noexcept {
    return unknownText;
}

DroppedErrorHandler setDroppedErrorHandler(DroppedErrorHandler handler) noexcept {
    return droppedHandler.exchange(handler ? handler : printDropped);
}

void reportDroppedError(const void* code, Error error) noexcept {
    if (error.code() == error_code_actor_cancelled || error.code() == error_code_broken_promise)
        return;
    char where[256];
    detail::actorNameAt(code, where, sizeof where);
    droppedHandler.load()(where, error);
}

void detail::nameUncaughtErrors() noexcept {
    static std::terminate_handler const before = std::set_terminate([] {
        if (std::current_exception()) {
            try {
                throw;
            } catch (Error const& error) {
                std::fprintf(stderr, "flow: uncaught error %s (%d): %s\n", error.name(), error.code(), error.what());
            } catch (...) {
            }
        }
        before();
    });
}

} // namespace flow
