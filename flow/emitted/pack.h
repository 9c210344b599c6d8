#pragma once
// Pack<Ts...>: an actor's parameter pack as a member of its state; made first to last, destroyed last to first.
//
//     Pack<int, Token> args(1, token);
//     args.apply([](int& i, Token& t) { ... });

#include <utility>

namespace flow::actor {

template <class... Ts>
class Pack {
public:
    template <class F, class... Before>
    auto apply(F&& function, Before&... before) {
        return function(before...);
    }
};

template <class T, class... Rest>
class Pack<T, Rest...> {
public:
    template <class U, class... Us>
    explicit Pack(U&& first, Us&&... rest) : first_(std::forward<U>(first)), rest_(std::forward<Us>(rest)...) {}

    template <class F, class... Before>
    auto apply(F&& function, Before&... before) {
        return rest_.apply(function, before..., first_);
    }

private:
    T first_;
    [[no_unique_address]] Pack<Rest...> rest_;
};

} // namespace flow::actor
