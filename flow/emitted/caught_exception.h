#pragma once
// CaughtException: the exception of an actor's `catch (T& e)`, kept so that the handler may wait. For emitted code.
//
//     RaisedException raised;
//     try { ... } catch (std::exception& caught) { raised.hold(caught); goto handler; }
//     handler:
//     CaughtException kept(raised);
//     std::exception& e = kept.as<std::exception&>();
//     kept.rethrow();

#include "flow/base/error.h"

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace flow {

/// An exception on its way to a handler. It needs no destructor, since a handler takes it in any case.
class RaisedException {
public:
    /// Keeps the exception. To be called in the native handler that has caught `object`, before the jump to the code
    /// that takes the exception. If `object` is a pointer, its value is kept.
    template <class T>
    void hold(T& object) noexcept {
        static_assert(
            !std::is_same_v<std::remove_const_t<T>, Error>,
            "an actor's handler takes flow::Error under another name, by which actorc cannot recognise it: write "
            "`catch (Error& e)`");
        ::new (static_cast<void*>(bytes_)) std::exception_ptr(std::current_exception());
        if constexpr (std::is_pointer_v<T>)
            object_ = reinterpret_cast<const volatile void*>(object);
        else
            object_ = std::addressof(object);
    }

private:
    friend class CaughtException;

    alignas(std::exception_ptr) unsigned char bytes_[sizeof(std::exception_ptr)];
    const volatile void* object_;
};

class CaughtException {
public:
    CaughtException() = default;
    /// Takes the exception that `raised` holds. To be called once.
    explicit CaughtException(RaisedException& raised) noexcept : object_(raised.object_) {
        auto* held = std::launder(reinterpret_cast<std::exception_ptr*>(raised.bytes_));
        exception_ = std::move(*held);
        std::destroy_at(held);
    }

    /// Returns the object that `catch (T name)` names: the exception itself, valid as long as this CaughtException.
    template <class T>
    decltype(auto) as() const noexcept {
        using Object = std::remove_reference_t<T>;
        if constexpr (std::is_pointer_v<Object>)
            return reinterpret_cast<std::remove_cv_t<Object>>(const_cast<void*>(object_));
        else
            return *static_cast<Object*>(const_cast<void*>(object_));
    }

    [[noreturn]] void rethrow() const { std::rethrow_exception(exception_); }

private:
    std::exception_ptr exception_;
    const volatile void* object_ = nullptr;
};

} // namespace flow
