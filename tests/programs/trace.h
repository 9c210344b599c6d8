#pragma once
// What the trace programs print with.
//
//     say("x is %d", x);              // one line
//     Token token("a");               // its last copy prints "~a"
//     auto w = watch("f", future);    // prints "f: 3", "f: done" or "f: timed_out" when the future is ready

#include "flow/core/error_or.h"
#include "flow/coro/coroutine.h"

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>

using namespace flow;

[[gnu::format(printf, 1, 2)]] inline void say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::putchar('\n');
    std::fflush(stdout);
}

/// Prints when its last copy is destroyed. Default-constructed, or assigned from such a one, it prints nothing.
class Token {
public:
    Token() = default;
    explicit Token(std::string name)
        : name_(new std::string(std::move(name)), [](std::string* last) {
              say("~%s", last->c_str());
              delete last;
          }) {}

    explicit operator bool() const { return name_ != nullptr; }
    const char* name() const { return name_ ? name_->c_str() : "nothing"; }

private:
    std::shared_ptr<std::string> name_;
};

/// Not an actor, so that it does not depend on what is tested. It holds the future.
template <class T>
Future<Void> watch(const char* who, Future<T> future) {
    ErrorOr<T> result = co_await tryGet(std::move(future));
    if (result.isError())
        say("%s: %s", who, result.getError().name());
    else if constexpr (std::is_same_v<T, int>)
        say("%s: %d", who, result.get());
    else
        say("%s: done", who);
}
