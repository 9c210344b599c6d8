// The texts of a code are in kTable (errors of the library) or in the lock-free list `named`. The initialisers of
// FLOW_ERROR add to this list, also when a shared object is loaded later. error_origins.cpp has the sentences of
// withSentence().
//
// currentError() turns exceptions into errors of futures: actors, coroutines and tasks call it in `catch (...)`. It
// copies an Error without a rethrow. Other exceptions become unknown_error, and the thread keeps their text.
//
// There are two reports. callDroppedErrorHandler() reports an error at once, because no future is left to receive it.
// reportUnreadError() is called when a failed future is freed before any code has read its error. Unread errors are
// counted for each actor, so that an actor that fails again and again does not flood the log. Both functions call the
// handler on a new stack, because little of the current stack may be left.

#include "flow/base/error.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/base/detail/foreign_exception.h"
#include "flow/base/fork_count.h"
#include "flow/base/stack.h"
#include "flow/diag/detail/symbol.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <string>
#include <typeinfo>

namespace flow {
namespace {

struct Entry {
    int code;
    const char* name;
    const char* description;
};

constexpr Entry kTable[] = {
#define FLOW_ENTRY(name, code, description) {code, #name, description},
    FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY
};

constexpr Entry kUnset{Error().code(), "unset", "no error"};
constexpr Entry kApplication{-1, "application_error", "an error that the application defines"};

/// An error of an application. Entries are never removed.
struct NamedEntry {
    std::string name, description;
    Entry entry;
    NamedEntry* next;
};
constinit std::atomic<NamedEntry*> named{nullptr};

const Entry* namedEntry(int code) {
    for (NamedEntry* each = named.load(std::memory_order_acquire); each; each = each->next)
        if (each->entry.code == code)
            return &each->entry;
    return nullptr;
}

const Entry& entryOf(int code) {
    for (const Entry& entry : kTable)
        if (entry.code == code)
            return entry;
    if (const Entry* entry = namedEntry(code))
        return *entry;
    return code == kUnset.code ? kUnset : kApplication;
}

thread_local char unknownText[256];

void keepUnknown(const char* text) {
    std::snprintf(unknownText, sizeof unknownText, "%s", text);
}

/// Returns unknown_error with the sentence "TYPE: TEXT". TYPE is the type of the handled exception.
Error unknownError(const char* text) {
    keepUnknown(text);
    if (Error first = detail::rethrownError(); first.isValid())
        return first;
    Error error = detail::foreignError();
    std::type_info const* type = abi::__cxa_current_exception_type();
    char* name = type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr) : nullptr;
    if (name) {
        char sentence[512];
        std::snprintf(sentence, sizeof sentence, "%s: %s", name, text);
        error = error.withSentence(sentence);
    }
    std::free(name);
    return error;
}

/// Returns the text of an error. For unknown_error it is the text of the last unknown exception, if there was one.
const char* textOf(Error error) {
    bool isPlain = error.what() == entryOf(error.code()).description;
    return error.code() == error_code_unknown_error && *unknownText && isPlain ? unknownText : error.what();
}

/// Returns the lines about the origin of an error. If it has no origin: a hint how to get origins, once per process.
std::string originOrHint(Error error) {
    static constinit std::atomic<std::uint32_t> hintedIn{0}; // forkCount() + 1
    std::uint32_t now = forkCount() + 1;
    if (*error.origin() != 0 || detail::recordsOrigins.load(std::memory_order_relaxed) || hintedIn.exchange(now) == now)
        return detail::originLines(error);
    return "  (with MILLRACE_ERROR_ORIGINS=1 in the environment, this line says where it was made)\n";
}

void printDropped(const char* where, Error error) {
    std::fprintf(stderr, "flow: error %s (%d) dropped by %s: %s\n%s", error.name(), error.code(), where, textOf(error),
                 originOrHint(error).c_str());
}

std::atomic<DroppedErrorHandler> droppedHandler{printDropped};

} // namespace

bool detail::nameError(int code, const char* name, const char* description) {
    if (const Entry* entry = namedEntry(code)) {
        if (std::strcmp(entry->name, name) != 0) {
            std::fprintf(stderr, "flow: the errors %s and %s have the same code %d\n", entry->name, name, code);
            std::abort();
        }
        return true; // another shared object defines the same error
    }
    auto* entry = new NamedEntry{name, description, {}, named.load(std::memory_order_relaxed)};
    entry->entry = {code, entry->name.c_str(), entry->description.c_str()};
    while (!named.compare_exchange_weak(entry->next, entry, std::memory_order_release))
        ;
    return true;
}

const char* Error::name() const {
    return entryOf(code_).name;
}

const char* Error::what() const {
    const char* sentence = detail::sentenceOf(number(), code_);
    return sentence ? sentence : entryOf(code_).description;
}

Error wrongOption(std::string_view options, std::string_view option, std::string_view value, std::string_view rule) {
    std::string sentence(options);
    sentence.append(": ").append(option).append(" is ").append(value).append("; ").append(rule);
    return invalid_option_value().withSentence(sentence);
}

namespace {

/// Returns the address of an exception, which an exception_ptr is in both standard libraries.
void const* addressOf(std::exception_ptr const& exception) noexcept {
    void const* address;
    static_assert(sizeof exception == sizeof address);
    std::memcpy(&address, &exception, sizeof address);
    return address;
}

/// Returns the exception that is being handled, if it is an Error; else null. A rethrow would find it too, but costs as
/// much as the first throw.
Error const* handledError() noexcept {
    std::type_info const* type = abi::__cxa_current_exception_type();
    if (!type || *type != typeid(Error))
        return nullptr;
    return static_cast<Error const*>(addressOf(std::current_exception()));
}

/// The last exception that noteRethrown() has noted. It may be destroyed.
struct Rethrown {
    void const* exception = nullptr;
    Error error;
};
constinit thread_local Rethrown rethrown;

/// True if std::rethrow_exception() has thrown the handled exception: then the header on the list of caught exceptions
/// is an object of its own, and not the bytes in front of the exception.
bool isRethrown(void const* exception) noexcept {
    constexpr std::uintptr_t kMostHeader = 160; // both standard libraries have at most 128 bytes
    void const* header;
    std::memcpy(&header, abi::__cxa_get_globals(), sizeof header);
    return reinterpret_cast<std::uintptr_t>(exception) - reinterpret_cast<std::uintptr_t>(header) > kMostHeader;
}

} // namespace

void detail::noteRethrown(std::exception_ptr const& exception, Error error) noexcept {
    rethrown = {addressOf(exception), error};
}

Error detail::rethrownError() noexcept {
    // A new exception may have the address of an older one, but no code has rethrown it.
    void const* handled = addressOf(std::current_exception());
    return handled && handled == rethrown.exception && isRethrown(handled) ? rethrown.error : Error();
}

Error currentError() noexcept {
    if (Error const* error = handledError(); error && error->isValid())
        return *error;
    try {
        throw;
    } catch (Error const& error) {
        if (error.isValid())
            return error;
        keepUnknown("an Error that was not set"); // in a future, such an Error would mean a value
    } catch (std::bad_alloc const& other) {
        keepUnknown(other.what()); // no sentence, which would need memory
    } catch (std::exception const& other) {
        return unknownError(other.what());
    } catch (...) {
        return unknownError("an exception of unknown type");
    }
    return detail::foreignError();
}

bool detail::handlesForeignException() noexcept {
    std::type_info const* type = abi::__cxa_current_exception_type();
    if (!type || *type == typeid(Error))
        return false;
    try {
        throw;
    } catch (Error const&) { // an Error of a derived class
        return false;
    } catch (...) {
        return true;
    }
}

const char* lastUnknownError() noexcept {
    return unknownText;
}

DroppedErrorHandler setDroppedErrorHandler(DroppedErrorHandler handler) noexcept {
    return droppedHandler.exchange(handler ? handler : printDropped);
}

namespace {

/// `times` is the number of errors that this actor has dropped. If `times` is 0, the report has no number.
void callHandler(const void* code, Error error, std::uint64_t times) noexcept {
    onNewStack([&] { // the current stack may be too short to find and print the actor's name
        char where[256] = "a future that no actor made";
        if (code)
            actorNameAt(code, where, sizeof where - 48);
        if (std::size_t length = std::strlen(where); times > 0)
            std::snprintf(where + length, sizeof where - length, ", %llu times so far",
                          static_cast<unsigned long long>(times));
        droppedHandler.load()(where, error);
    });
}

std::atomic<bool> unreadReports{true};

/// Counts the unread errors of each actor on this thread. The actors that find no free place share the last one.
struct UnreadCounts {
    static constexpr std::size_t kPlaces = 32;
    const void* codes[kPlaces];
    std::uint64_t counts[kPlaces];
    std::size_t used;

    std::uint64_t add(const void* code) {
        std::size_t place = 0;
        while (place < used && codes[place] != code)
            ++place;
        if (place == used && used < kPlaces) {
            codes[used] = code;
            counts[used++] = 0;
        }
        return ++counts[place < kPlaces ? place : kPlaces - 1];
    }
};
thread_local UnreadCounts unreadCounts;

bool isPowerOfTen(std::uint64_t number) {
    while (number % 10 == 0)
        number /= 10;
    return number == 1;
}

} // namespace

bool setUnreadErrorReports(bool on) noexcept {
    return unreadReports.exchange(on);
}

void detail::callDroppedErrorHandler(const void* code, Error error) noexcept {
    callHandler(code, error, 0);
}

void reportDroppedBy(const char* where, Error error) noexcept {
    if (isReported(error))
        onNewStack([&] { droppedHandler.load()(where, error); });
}

void detail::reportUnreadError(const void* code, Error error) noexcept {
    // Like the errors that isReported() excludes, these two only say that something has ended.
    if (!isReported(error) || error.code() == error_code_end_of_stream ||
        error.code() == error_code_operation_obsolete || !unreadReports.load(std::memory_order_relaxed))
        return;
    std::uint64_t times = unreadCounts.add(code);
    if (times <= 10 || isPowerOfTen(times))
        callHandler(code, error, times > 10 ? times : 0);
}

void forgetUnreadErrors() noexcept {
    unreadCounts.used = 0;
}

namespace {

/// True for the handler that libstdc++ installs, which prints the type of the exception.
bool isDefault([[maybe_unused]] std::terminate_handler handler) {
#ifdef __GLIBCXX__
    return handler == __gnu_cxx::__verbose_terminate_handler;
#else
    return false;
#endif
}

} // namespace

bool detail::nameUncaughtErrors() noexcept {
    static std::terminate_handler const before = std::set_terminate([] {
        if (std::current_exception()) {
            try {
                throw;
            } catch (Error const& error) {
                std::fprintf(stderr, "flow: uncaught error %s (%d): %s\n%s", error.name(), error.code(), textOf(error),
                             originOrHint(error).c_str());
                if (isDefault(before))
                    std::abort();
            } catch (...) {
                if (rethrownError().isValid()) { // it comes out of a future
                    Error error = currentError();
                    std::fprintf(stderr, "flow: uncaught exception %s\n%s", textOf(error), originOrHint(error).c_str());
                    if (isDefault(before))
                        std::abort();
                }
            }
        }
        before();
    });
    return before != nullptr;
}

} // namespace flow
