#pragma once
// What coroutines use, under the old header name, and Generator:
//
//     Generator<int> below(int end) {
//         for (int i = 0; i < end; ++i)
//             co_yield i;
//     }
//     for (Generator<int> each = below(10); each; ++each) use(*each);
//     for (int i : below(10)) use(i);
//
// It is that of flow/structured/generator.h, and runs to its first value when that is first asked for.

#include "../../structured/generator.h"
#include "CoroUtils.h"

#include <iterator>
#include <optional>
#include <utility>

template <class T>
class [[nodiscard]] Generator {
    using Made = flow::Generator<T>;

public:
    using promise_type = typename Made::promise_type;

    Generator(Made made) : made_(std::move(made)) {}

    /// Whether there is a value. Throws what the body has thrown.
    explicit operator bool() { return !(current() == std::default_sentinel); }
    T& operator*() { return *current(); }
    T* operator->() { return &*current(); }
    Generator& operator++() {
        ASSERT(*this);
        ++current();
        return *this;
    }
    auto begin() { return made_.begin(); }
    std::default_sentinel_t end() const { return {}; }

private:
    typename Made::Iterator& current() { return place_ ? *place_ : place_.emplace(made_.begin()); }

    Made made_;
    std::optional<typename Made::Iterator> place_;
};
