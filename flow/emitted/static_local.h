#pragma once
// StaticLocal: a `static` variable of an actor's body that is declared more than once in the emitted code.
//
//     static StaticLocal<T> storage;
//     auto& x = storage.get([&]() -> T { return e; });   // in each place

#include <atomic>
#include <mutex>
#include <optional>
#include <type_traits>

namespace flow {

/// The variable is made by the first `get`, at any place and on any thread, and destroyed at exit.
template <class T>
class StaticLocal {
    using Stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_const_t<T>>;

public:
    template <class Make>
    std::remove_reference_t<T>& get(Make make) {
        if (!made_.load(std::memory_order_acquire)) [[unlikely]] {
            std::lock_guard lock(mutex_);
            if (!made_.load(std::memory_order_relaxed)) {
                if constexpr (std::is_reference_v<T>)
                    object_ = &make();
                else
                    object_.emplace(make());
                made_.store(true, std::memory_order_release);
            }
        }
        if constexpr (std::is_reference_v<T>)
            return **object_;
        else
            return *object_;
    }

private:
    // std::call_once is not used: under ThreadSanitizer it never returns after an initialiser has thrown.
    std::atomic<bool> made_{false};
    std::mutex mutex_;
    std::optional<Stored> object_;
};

/// StaticLocal for `static auto x = e;`: the value gives the type. Each function has a `Tag` type of its own.
template <class Tag>
class DeducedStatic {
public:
    template <class Make>
    static auto& get(Make make) {
        return storage<decltype(make())>.get(make);
    }

private:
    template <class T>
    static inline StaticLocal<T> storage;
};

} // namespace flow
