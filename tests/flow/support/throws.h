#pragma once
// Counts the C++ exceptions that a program throws. One of its files defines COUNT_THROWS_HERE before this include.
//
//     Throws throws;
//     promise.sendError(timed_out());
//     CHECK(throws.count() == 0);

namespace flow::test {

/// `throw x;` and `throw;`, anywhere in this program, and std::rethrow_exception.
long throwsSoFar();

/// Those since the object was made.
class Throws {
public:
    long count() const { return throwsSoFar() - before_; }

private:
    long before_ = throwsSoFar();
};

} // namespace flow::test

#ifdef COUNT_THROWS_HERE

#include <atomic>
#include <dlfcn.h>
#include <exception>
#include <utility>

namespace flow::test {
static std::atomic<long> thrown = 0;
long throwsSoFar() {
    return thrown;
}

template <class Function>
Function* original(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
} // namespace flow::test

// What the compilers and the standard library call, in front of the library's own. A sanitizer's own interceptor, which
// these replace, only marks a part of the stack as unused.
#ifdef __SANITIZE_ADDRESS__
#define STACK_DIES() __asan_handle_no_return()
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACK_DIES() __asan_handle_no_return()
#endif
#endif
#ifndef STACK_DIES
#define STACK_DIES() static_cast<void>(0)
#endif

extern "C" {
void __asan_handle_no_return();

[[noreturn]] void __cxa_throw(void* object, void* type, void (*destroy)(void*)) {
    ++flow::test::thrown;
    static auto* const next = flow::test::original<void(void*, void*, void (*)(void*))>("__cxa_throw");
    STACK_DIES();
    next(object, type, destroy);
    __builtin_unreachable();
}

[[noreturn]] void __cxa_rethrow() {
    ++flow::test::thrown;
    static auto* const next = flow::test::original<void()>("__cxa_rethrow");
    STACK_DIES();
    next();
    __builtin_unreachable();
}
}

namespace std {
void rethrow_exception(exception_ptr exception) {
    ++flow::test::thrown;
    static auto* const next =
        flow::test::original<void(exception_ptr)>("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");
    STACK_DIES();
    next(std::move(exception));
    __builtin_unreachable();
}
} // namespace std

#endif
