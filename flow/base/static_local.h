#pragma once
// StaticLocal: a `static` variable of an actor's body whose declaration stands in the emitted code more than once.
// Emitted code uses it; programs do not.
//
//     static StaticLocal<T> storage;
//     auto& x = storage.get([&]() -> T { return e; });   // in each place

#include <mutex>
#include <optional>
#include <type_traits>

namespace flow {

/// Made by the first `get`, whichever it is and on whichever thread; destroyed at exit.
template <class T>
class StaticLocal {
    using Stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_const_t<T>>;

public:
    template <class Make>
    std::remove_reference_t<T>& get(Make make) {
        std::call_once(once_, [&] {
            if constexpr (std::is_reference_v<T>)
                object_ = &make();
            else
                object_.emplace(make());
        });
        if constexpr (std::is_reference_v<T>)
            return **object_;
        else
            return *object_;
    }

private:
    std::once_flag once_;
    std::optional<Stored> object_;
};

} // namespace flow
