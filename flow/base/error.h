#pragma once
// Error: the value that a failed future holds, and that actors and coroutines throw.
//
//     throw timed_out();                         // a function for each entry of the table
//     try { ... } catch (Error& e) {
//         if (e.code() != error_code_timed_out) throw;
//     }
//
//     FLOW_ERROR(queue_full, 10001, "the queue is full");      // an error of the application, in any file
//     throw queue_full();
//     throw file_corrupt().withSentence(path + ": the header has 3 bytes; it must have 16");     // what() returns it
//
// An Error is a value of four bytes, a code and flags. A copy has all data of the original. Error does not derive from
// std::exception: `catch (std::exception)` would slice it, and every Error would have a pointer to a vtable.
//
//     Error::recordOrigins(true);                // or MILLRACE_ERROR_ORIGINS=1: a new error keeps its origin, the
//                                                // place at which it was made. An uncaught error prints its origin:
//     flow: uncaught error timed_out (1004): the operation took too long
//       raised at fetch.actor.cpp:31
//       actor fetch at fetch.actor.cpp:28 runs
//         awaited by actor serve at serve.actor.cpp:12

#include "flow/base/assert.h"
#include "flow/base/error_table.h"
#include "flow/base/inline.h"

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

namespace flow {

class Error;

namespace detail {
inline constinit std::atomic<bool> recordsOrigins{FLOW_CHECKED != 0};
/// Returns the number of an origin in the table of origins, or 0 if the table has no place for it.
FLOW_RARE std::uint16_t numberOfOrigin(std::source_location raised) noexcept;
/// Returns unknown_error for an exception that is no Error. In checked builds the origin of the error is the actor that
/// runs. In other builds all such errors have one origin; it gets no chain of awaiters here, because the chain of the
/// first exception would stay for all exceptions.
[[gnu::cold]] Error foreignError() noexcept;
/// Returns the number of an entry with the same origin and the chain of awaiters of a cell. `codes` stands for
/// the code of the cell's frame and of the first awaiter: errors that come from the same origin to the same two share
/// an entry. Returns `number` if the origin has a chain, or was not kept.
FLOW_RARE std::uint16_t numberWithAwaiters(std::uint16_t number, int code, void const* cell,
                                           void const* codes) noexcept;
/// Returns the number of the table entry with this sentence, this code and the origin of entry `number`.
std::uint16_t numberOfSentence(std::uint16_t number, int code, std::string_view sentence) noexcept;
/// Returns the sentence of entry `number`, or null if that entry has none for errors with this code.
const char* sentenceOf(std::uint16_t number, int code) noexcept;
} // namespace detail

enum : std::uint16_t {
#define FLOW_ENTRY(name, code, description) error_code_##name = code,
    FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY
        error_code_actor_cancelled = error_code_operation_cancelled,
};

class [[nodiscard]] Error {
public:
    /// Makes an Error that stands for no error: `isValid()` is false, and the code is 65535.
    constexpr Error() = default;
    /// `code` is one of error_code_... or a code of the application, in 0 .. 65534. success() is an error too, with
    /// code 0: a future to which success() is sent has failed.
    constexpr explicit Error(int code, std::source_location raised = std::source_location::current())
        : code_(static_cast<std::uint16_t>(code)) {
        FLOW_ASSERT(code == code_, "an Error's code is in 0 .. 65534");
        if (!std::is_constant_evaluated() && code != error_code_operation_cancelled &&
            detail::recordsOrigins.load(std::memory_order_relaxed)) [[unlikely]]
            setNumber(detail::numberOfOrigin(raised));
    }

    static constexpr Error fromCode(int code, std::source_location raised = std::source_location::current()) {
        return Error(code, raised);
    }

    /// Returns the error for a code of another program, or unknown_error if `code` is not in 0 .. 65534.
    static constexpr Error fromUnvalidatedCode(int code,
                                               std::source_location raised = std::source_location::current()) {
        return Error(code >= 0 && code < kUnset ? code : +error_code_unknown_error, raised);
    }

    /// Does nothing: for programs of Flow, which call it first.
    static constexpr void init() {}

    constexpr int code() const { return code_; }
    /// True for every error except the default-constructed one.
    constexpr bool isValid() const { return code_ != kUnset; }
    /// Returns the name in the table or of a FLOW_ERROR, else "application_error". The name of Error() is "unset".
    const char* name() const;
    /// Returns a text for people: the sentence of withSentence(), or else the text of the code. The text stays valid; a
    /// sentence that is not among the first 4,096 is valid until 20,000 newer ones were made (see withSentence()).
    const char* what() const;

    /// Returns this error with a sentence that says what is wrong, with names and values (up to 500 bytes). Copies keep
    /// the sentence, in all threads; other processes receive only the code. A program keeps its first 4,096 different
    /// sentences forever, and the newest 4,096 of the later ones. An error with an older sentence has only the text of
    /// its code, or, after 20,000 newer sentences, perhaps a newer sentence of the same code.
    Error withSentence(std::string_view sentence) const noexcept {
        Error said = *this;
        said.setNumber(detail::numberOfSentence(number(), code_, sentence));
        return said;
    }

    /// Returns this error, marked as caused by fault injection. Copies keep the mark.
    constexpr Error asInjectedFault() const {
        Error injected = *this;
        injected.flags_ |= kInjected;
        return injected;
    }
    constexpr bool isInjectedFault() const { return flags_ & kInjected; }

    /// Switches origins on or off for all threads: while they are on, a new error keeps the place at which it is made.
    /// At first they are on in checked builds, and off in others; MILLRACE_ERROR_ORIGINS=1 or =0 changes that.
    /// Returns the previous setting. While origins are off, each new error costs one test. A program keeps its first
    /// 8,192 different origins. Origins of operation_cancelled are never kept.
    static bool recordOrigins(bool on) noexcept;
    /// Returns the place at which this error was made: file and line. If that is a line of the library, the user's line
    /// that has called it comes first: "ask.cpp:7, by timeout.h:72 of the library". A function in the namespace flow
    /// counts as the library. Further lines have the chain of awaiters (flow/inspect/async_stack.h) of the first error
    /// that was made at that line (in checked builds: at that line by the same actor), or that came from there to the
    /// same two computations. The text is empty if the origin was not kept. It stays valid.
    const char* origin() const noexcept;

    /// Called when a computation of the library fails, or a computation that fails while no code runs, for example
    /// because the answer of another thread has come. Returns this error. If its origin has no chain of awaiters, adds
    /// the chain of the computation's cell.
    Error withAwaiters(void const* cell, void const* codes) const noexcept {
        Error reached = *this;
        if (isValid() && detail::recordsOrigins.load(std::memory_order_relaxed)) [[unlikely]]
            reached.setNumber(detail::numberWithAwaiters(number(), code_, cell, codes));
        return reached;
    }

    /// Origins and sentences are not compared.
    friend constexpr bool operator==(Error const& a, Error const& b) {
        return a.code_ == b.code_ && a.isInjectedFault() == b.isInjectedFault();
    }

private:
    static constexpr std::uint16_t kInjected = 1;
    static constexpr int kNumberShift = 1; // the other bits of flags_ are the number of the origin and sentence
    static constexpr std::uint16_t kUnset = 65535;
    constexpr std::uint16_t number() const { return flags_ >> kNumberShift; }
    constexpr void setNumber(std::uint16_t number) {
        flags_ = static_cast<std::uint16_t>(number << kNumberShift | (flags_ & kInjected));
    }

    std::uint16_t code_ = kUnset;
    std::uint16_t flags_ = 0;
};

#define FLOW_ENTRY(name, code, description)                                                                            \
    inline constexpr Error name(std::source_location raised = std::source_location::current()) {                       \
        return Error(code, raised);                                                                                    \
    }
FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY

/// Defines, at namespace scope, the function `name()`, the constant `error_code_name`, and the texts of Error::name()
/// and what(). `code` is in 10000 .. 65534. If two names have the same code, the program ends at its start.
#define FLOW_ERROR(name, code, description)                                                                            \
    static_assert((code) >= 10000 && (code) < 65535, "an application numbers its errors from 10000 to 65534");         \
    enum : std::uint16_t { error_code_##name = code };                                                                 \
    inline constexpr ::flow::Error name(std::source_location raised = std::source_location::current()) {               \
        return ::flow::Error(code, raised);                                                                            \
    }                                                                                                                  \
    inline bool const flow_error_is_named_##name = ::flow::detail::nameError(code, #name, description)

inline constexpr Error actor_cancelled() {
    return operation_cancelled();
}

/// Returns invalid_option_value with the sentence "OPTIONS: OPTION is VALUE; RULE":
///     throw wrongOption("MessageOptions", "heartbeatIvl", "-1", "it must not be negative");
Error wrongOption(std::string_view options, std::string_view option, std::string_view value, std::string_view rule);

/// Returns the current exception as an Error; for catch blocks only. An exception that is not an Error becomes
/// unknown_error with the sentence "TYPE: WHAT" (none for std::bad_alloc); lastUnknownError() then returns its what().
/// If a failed future throws it, that is the future's error, with its origin.
Error currentError() noexcept;

/// Returns the what() of this thread's last exception that became unknown_error, at most 255 bytes; "" without one.
const char* lastUnknownError() noexcept;

/// Called for a dropped error (no future is left to receive it) and for an unread error (its future is destroyed before
/// a wait, get(), getError() or isError() reads it). Not called for actor_cancelled, broken_promise, and an unread
/// end_of_stream or operation_obsolete. `where` names the actor. The default handler prints a line to standard error.
/// Each thread reports the first ten unread errors of an actor, then the 100th, the 1000th and so on.
using DroppedErrorHandler = void (*)(const char* where, Error error);
/// Installs a handler for all threads and returns the previous handler. Null restores the default handler.
DroppedErrorHandler setDroppedErrorHandler(DroppedErrorHandler handler) noexcept;

/// Switches the reports of unread errors off, or on again, for all threads. Returns true if they were on before.
bool setUnreadErrorReports(bool on) noexcept;
/// Clears this thread's counts of unread errors. A simulation calls this at its start, so that its reports repeat.
void forgetUnreadErrors() noexcept;

namespace detail {
/// Adds an error of the application, with copies of the texts. Returns true.
bool nameError(int code, const char* name, const char* description);
/// Reports an error that was not read. `code` is an address in the code of the actor that made the future, or null.
[[gnu::cold]] void reportUnreadError(const void* code, Error error) noexcept;
/// Calls the handler for any error, also for errors that isReported() excludes.
FLOW_RARE void callDroppedErrorHandler(const void* code, Error error) noexcept;
/// After the first call, an uncaught Error is printed by name before the program ends. error_origins.cpp calls this
/// before main(). The terminate handler that was set earlier runs next; a later one replaces this one. Returns true.
bool nameUncaughtErrors() noexcept;
/// The function that makes the chain of awaiters of a cell, or, if `cell` is null, of the code that runs.
using ChainOfOrigin = std::string (*)(void const* cell);
void setChainOfOrigins(ChainOfOrigin chain) noexcept;
/// Returns the lines of a report about the origin of an error; empty if the error has no origin.
std::string originLines(Error error);
} // namespace detail

/// True if an error that no code receives must be reported. The two other errors only say that an operation has ended.
inline bool isReported(Error error) {
    return error.code() != error_code_actor_cancelled && error.code() != error_code_broken_promise;
}

/// Reports a dropped error; `code` is any address inside the function of the actor that dropped it.
inline void reportDroppedError(const void* code, Error error) noexcept {
    if (isReported(error))
        detail::callDroppedErrorHandler(code, error);
}

} // namespace flow
