#pragma once
// Error: the value that a failed future holds, and that actors and coroutines throw.
//
//     throw timed_out();                         // a function for each entry of the table
//     try { ... } catch (Error& e) {
//         if (e.code() != error_code_timed_out) throw;
//     }
//
//     FLOW_ERROR(queue_full, 10001, "the queue is full");      // an application's own, in a header or a source
//     throw queue_full();
//     throw file_corrupt().withSentence(path + ": the header has 3 bytes; it must have 16");     // what() says it
//
// An Error is a value of four bytes, a code and flags; copying it never loses anything. It does not derive from
// std::exception, since a base class would be sliced by `catch (std::exception)` and would cost a vtable.
//
//     Error::recordOrigins(true);                // or MILLRACE_ERROR_ORIGINS=1: from here on e.origin() says where
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

namespace detail {
inline constinit std::atomic<bool> recordsOrigins{false};
/// The number of an origin in their table; 0 if it has no place there.
FLOW_RARE std::uint16_t numberOfOrigin(std::source_location raised) noexcept;
/// The number of a sentence together with the origin that has the number `origin`; that number if there is no place.
std::uint16_t numberOfSentence(std::uint16_t origin, std::string_view sentence) noexcept;
/// Null if there is none. It stays valid.
const char* sentenceOf(std::uint16_t number) noexcept;
} // namespace detail

/// The code of each error, as `error_code_NAME`.
enum : std::uint16_t {
#define FLOW_ENTRY(name, code, description) error_code_##name = code,
    FLOW_ERROR_TABLE(FLOW_ENTRY)
#undef FLOW_ENTRY
        error_code_actor_cancelled = error_code_operation_cancelled,
};

class [[nodiscard]] Error {
public:
    /// No error: `isValid()` is false, the code 65535.
    constexpr Error() = default;
    /// `code` is one of error_code_... or an application's own, in 0 .. 65534. success() is an error too, of code 0: a
    /// future that it is sent to has failed.
    constexpr explicit Error(int code, std::source_location raised = std::source_location::current())
        : code_(static_cast<std::uint16_t>(code)) {
        FLOW_ASSERT(code == code_, "an Error's code is in 0 .. 65534");
        if (!std::is_constant_evaluated() && code != error_code_operation_cancelled &&
            detail::recordsOrigins.load(std::memory_order_relaxed)) [[unlikely]]
            setNumber(detail::numberOfOrigin(raised));
    }

    /// Equal to Error(code).
    static constexpr Error fromCode(int code, std::source_location raised = std::source_location::current()) {
        return Error(code, raised);
    }

    /// For a number from elsewhere, such as another program: unknown_error if it is not in 0 .. 65534.
    static constexpr Error fromUnvalidatedCode(int code,
                                               std::source_location raised = std::source_location::current()) {
        return Error(code >= 0 && code < kUnset ? code : +error_code_unknown_error, raised);
    }

    constexpr int code() const { return code_; }
    /// True for every error except the default-constructed one.
    constexpr bool isValid() const { return code_ != kUnset; }
    /// The name in the table or of a FLOW_ERROR, or "application_error". "unset" for the default-constructed one.
    const char* name() const;
    /// A sentence for people: that of withSentence(), or else the text of the code. It stays valid.
    const char* what() const;

    /// This error with a sentence that says what is wrong, with names and values; copies keep it, in each thread. A
    /// program keeps its first 4,096 different sentences, up to 500 bytes of each: a later error has only the text of
    /// its code. Other processes receive the code alone.
    Error withSentence(std::string_view sentence) const noexcept {
        Error said = *this;
        said.setNumber(detail::numberOfSentence(number(), sentence));
        return said;
    }

    /// This error, marked as caused by fault injection; copies keep the mark.
    constexpr Error asInjectedFault() const {
        Error injected = *this;
        injected.flags_ |= kInjected;
        return injected;
    }
    constexpr bool isInjectedFault() const { return flags_ & kInjected; }

    /// Makes errors of all threads from here on keep the place at which they are made, or not; returns the setting
    /// before. Off, it costs a test for each error that is made. A program has at most 28,671 origins: later ones are
    /// not kept. Origins of operation_cancelled are never kept.
    static bool recordOrigins(bool on) noexcept;
    /// The place at which it was made: file and line. Further lines have the chain of awaiters
    /// (flow/inspect/async_stack.h) of the first error that was made at this line, in checked builds by this actor.
    /// Empty if it was not recorded. The text stays valid.
    const char* origin() const noexcept;

    /// Origins and sentences are not compared.
    friend constexpr bool operator==(Error const& a, Error const& b) {
        return a.code_ == b.code_ && a.isInjectedFault() == b.isInjectedFault();
    }

private:
    static constexpr std::uint16_t kInjected = 1;
    static constexpr int kNumberShift = 1; // the number of its origin and sentence is in the other bits of flags_
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

/// At namespace scope: the function `name()`, `error_code_name`, and the texts of Error::name() and what() for this
/// code, which is in 10000 .. 65534. Two names for one code end the program at its start.
#define FLOW_ERROR(name, code, description)                                                                            \
    static_assert((code) >= 10000 && (code) < 65535, "an application numbers its errors from 10000 to 65534");         \
    enum : std::uint16_t { error_code_##name = code };                                                                 \
    inline constexpr ::flow::Error name(std::source_location raised = std::source_location::current()) {               \
        return ::flow::Error(code, raised);                                                                            \
    }                                                                                                                  \
    inline bool const flow_error_is_named_##name = ::flow::detail::nameError(code, #name, description)

/// The name of operation_cancelled that actors use.
inline constexpr Error actor_cancelled() {
    return operation_cancelled();
}

/// invalid_option_value with the sentence "OPTIONS: OPTION is VALUE; RULE":
///     throw wrongOption("MessageOptions", "heartbeatIvl", "-1", "it must not be negative");
Error wrongOption(std::string_view options, std::string_view option, std::string_view value, std::string_view rule);

/// Inside a catch block: the current exception as an Error. Anything that is not an Error becomes unknown_error, and
/// its what() is kept for `lastUnknownError()`.
Error currentError() noexcept;

/// The what() of the last exception that became unknown_error on this thread, at most 255 bytes; "" if there was none.
const char* lastUnknownError() noexcept;

/// Called for an error that no future is left to receive, and for one in a future that is destroyed before a wait,
/// get(), getError() or isError() has read it. `where` names the actor. Not called for actor_cancelled and
/// broken_promise, nor for an unread end_of_stream or operation_obsolete. The default writes a line to standard error.
/// Each thread reports the first ten unread errors of an actor, then the 100th, the 1000th and so on.
using DroppedErrorHandler = void (*)(const char* where, Error error);
/// Installs a handler for all threads and returns the one before; null restores the default.
DroppedErrorHandler setDroppedErrorHandler(DroppedErrorHandler handler) noexcept;

/// Switches the reports of unread errors off, or on again, for all threads. Returns whether they were on.
bool setUnreadErrorReports(bool on) noexcept;
/// Counts unread errors from zero again on this thread: for simulations, each of which reports the same whatever ran
/// before.
void forgetUnreadErrors() noexcept;

namespace detail {
/// Copies the texts. Returns true.
bool nameError(int code, const char* name, const char* description);
/// Reports an error that was not read; `code` is null if no actor made it.
[[gnu::cold]] void reportUnreadError(const void* code, Error error) noexcept;
/// Calls the handler, whatever the error is.
FLOW_RARE void callDroppedErrorHandler(const void* code, Error error) noexcept;
/// From its first call on, an uncaught Error is printed by name before the program ends.
void nameUncaughtErrors() noexcept;
/// The function that adds the chain of awaiters to an origin.
using ChainOfOrigin = std::string (*)();
void setChainOfOrigins(ChainOfOrigin chain) noexcept;
/// A report's lines about the origin of an error; empty if it has none.
std::string originLines(Error error);
} // namespace detail

/// True if an error that no code receives is worth a report. Two errors say that something has ended, not that it went
/// wrong.
inline bool isReported(Error error) {
    return error.code() != error_code_actor_cancelled && error.code() != error_code_broken_promise;
}

/// Reports a dropped error; `code` is any address inside the function of the actor that dropped it.
inline void reportDroppedError(const void* code, Error error) noexcept {
    if (isReported(error))
        detail::callDroppedErrorHandler(code, error);
}

} // namespace flow
