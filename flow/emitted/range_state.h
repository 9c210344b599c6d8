#pragma once
// RangeState: the range that an actor's `for (auto& x : expression)` keeps while its body waits. For emitted code.
//
//     RangeState<decltype((expression))> range;
//     for (range.start(expression); range.more(); range.next()) {
//         auto& x = *range;
//         ...
//     }
//     range.clear();
//
// A RangeState refers to an lvalue, which must outlive the loop. Any other range is moved into the RangeState and kept
// until clear(): a temporary, `f().member` (f()'s result ends with the expression), and `std::move(x)`.

#include "flow/base/inline.h"

#include <initializer_list>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace flow {

#define FLOW_NO_RANGE                                                                                                  \
    "a `for` that waits goes over what has begin() and end(), both public; a temporary that is an array or cannot be " \
    "moved needs a name"

namespace detail {

using std::begin;
using std::end;

template <class R>
concept IsRange = requires(R& range) {
    range.begin();
    range.end();
} || requires(R& range) {
    begin(range);
    end(range);
};

/// An element of an object that is not a range. It converts to each type, so that no second error follows.
struct AnyElement {
    template <class T>
    operator T&() const;
};

/// rangeBegin() and rangeEnd() find begin() and end() as a range-for does: members first, then free functions.
template <class R>
auto rangeBegin(R& range) {
    if constexpr (requires { range.begin(); })
        return range.begin();
    else if constexpr (IsRange<R>)
        return begin(range);
    else
        return static_cast<AnyElement*>(nullptr); // beginOf() or RefusedRange reports the error
}
template <class R>
auto rangeEnd(R& range) {
    if constexpr (requires { range.end(); })
        return range.end();
    else if constexpr (IsRange<R>)
        return end(range);
    else
        return static_cast<AnyElement*>(nullptr);
}

/// True if a range of this declared type can be kept until its loop ends.
template <class R>
concept CanBeKept = IsRange<std::remove_reference_t<R>> &&
                    (std::is_lvalue_reference_v<R> || (!std::is_array_v<std::remove_reference_t<R>> &&
                                                       std::is_constructible_v<std::remove_cvref_t<R>, R>));

/// A range that cannot be kept. The expression converts to RefusedRange, so the error is at the expression.
template <class R>
struct RefusedRange {
    FLOW_REFUSED(FLOW_NO_RANGE)
    RefusedRange(R&&) {}
};

} // namespace detail

/// The range of a `for`. `R` is the declared type of its expression: `T` for a temporary, `T&` or `T&&` otherwise.
template <class R>
class RangeState {
public:
    using Argument = detail::RefusedRange<R>;

    void start(Argument) {}
    bool more() const { return false; }
    void next() {}
    detail::AnyElement& operator*() const;
    void clear() {}
};

template <class R>
    requires detail::CanBeKept<R>
class RangeState<R> {
    using Range = std::remove_reference_t<R>;
    static constexpr bool kRefers = std::is_lvalue_reference_v<R>;
    using Iterator = decltype(detail::rangeBegin(std::declval<Range&>()));
    using Sentinel = decltype(detail::rangeEnd(std::declval<Range&>()));

public:
    using Argument = R&&;

    void start(R&& range) {
        clear();
        if constexpr (kRefers)
            range_ = std::addressof(static_cast<Range&>(range));
        else
            range_.emplace(std::forward<R>(range));
        try {
            begin_.emplace(detail::rangeBegin(*range_));
            end_.emplace(detail::rangeEnd(*range_));
        } catch (...) {
            begin_.reset();
            if constexpr (!kRefers)
                range_.reset();
            throw;
        }
    }
    bool more() { return static_cast<bool>(*begin_ != *end_); }
    void next() { ++*begin_; }
    decltype(auto) operator*() { return **begin_; }

    void clear() {
        if (!end_) // not started. gcc 12 could not see this from a test of `range_`
            return;
        begin_.reset();
        end_.reset();
        if constexpr (!kRefers)
            range_.reset();
    }

private:
    std::conditional_t<kRefers, Range*, std::optional<std::remove_const_t<Range>>> range_ = {};
    std::optional<Iterator> begin_;
    std::optional<Sentinel> end_;
};

namespace detail {
/// Holds an iterator that has no default constructor or no assignment. The iterator exists after the first assignment.
template <class Iterator>
class LateIterator {
public:
    void operator=(Iterator&& iterator) { iterator_.emplace(std::move(iterator)); }
    template <class Sentinel>
    bool operator!=(Sentinel&& sentinel) {
        return static_cast<bool>(*iterator_ != sentinel);
    }
    void operator++() { ++*iterator_; }
    decltype(auto) operator*() { return **iterator_; }

private:
    std::optional<Iterator> iterator_;
};

/// The type of beginOf: a class, since gcc reports the call of a refused function twice if it is not a member.
struct BeginOf {
    template <IsRange R>
    FLOW_INLINE auto operator()(R& range) const {
        return rangeBegin(range);
    }
    template <class R>
    FLOW_REFUSED(FLOW_NO_RANGE)
    AnyElement* operator()(R&) const {
        return nullptr;
    }
};
} // namespace detail
inline constexpr detail::BeginOf beginOf;

/// The type of the iterator of a range that has a name and lasts as long as the actor: a parameter or a state variable.
template <class R, class Iterator = decltype(detail::rangeBegin(std::declval<R>()))>
using IteratorOf = std::conditional_t<std::is_default_constructible_v<Iterator> && std::is_move_assignable_v<Iterator>,
                                      Iterator, detail::LateIterator<Iterator>>;

template <class R>
FLOW_INLINE auto endOf(R& range) {
    return detail::rangeEnd(range);
}

/// Owns a RangeState. The class that declares the AnyRange is incomplete and cannot name the RangeState's type.
class AnyRange {
public:
    AnyRange() = default;
    AnyRange(AnyRange const&) = delete;
    AnyRange& operator=(AnyRange const&) = delete;
    ~AnyRange() { clear(); }

    template <class State>
    State& make() {
        clear();
        auto* state = new State;
        state_ = state;
        destroy_ = [](void* any) { delete static_cast<State*>(any); };
        return *state;
    }
    /// Starts a RangeState over a range, and returns its address, so that the type of the RangeState can be deduced.
    template <class R>
        requires detail::CanBeKept<R&&>
    RangeState<R&&>* keep(R&& range) {
        auto& state = make<RangeState<R&&>>();
        state.start(std::forward<R>(range));
        return &state;
    }
    template <class R>
    FLOW_REFUSED(FLOW_NO_RANGE)
    RangeState<R&&>* keep(R&&) {
        return nullptr;
    }
    template <class State>
    State& as() const {
        return *static_cast<State*>(state_);
    }
    void clear() {
        if (state_)
            destroy_(std::exchange(state_, nullptr));
    }

private:
    void* state_ = nullptr;
    void (*destroy_)(void*) = nullptr;
};

/// The RangeState in an AnyRange, for code that can name the type of the RangeState.
template <class State>
class RangeIn {
public:
    explicit RangeIn(AnyRange& any) : any_(&any) {}

    void start(typename State::Argument range) {
        any_->make<State>().start(static_cast<typename State::Argument&&>(range));
    }
    bool more() const { return any_->as<State>().more(); }
    void next() { any_->as<State>().next(); }
    decltype(auto) operator*() { return *any_->as<State>(); }
    void clear() { any_->clear(); }

protected:
    AnyRange* any_;
};

/// The range of an expression with a lambda. Each lambda has its own type, so the expression stands in `keep` only.
///
///     RangeBy range(any, [&](AnyRange& any) { return any.keep(expression); });
///     for (range.start(); range.more(); range.next()) {
template <class Keep>
class RangeBy : public RangeIn<std::remove_pointer_t<std::invoke_result_t<Keep const&, AnyRange&>>> {
public:
    RangeBy(AnyRange& any, Keep keep) : RangeBy::RangeIn(any), keep_(std::move(keep)) {}

    void start() const { keep_(*this->any_); }

private:
    Keep keep_;
};

/// Makes a list of `{1, 2, 3}`. A range-for takes these braces directly, but no template can deduce their type.
template <class T>
std::list<T> const listOf(std::initializer_list<T> elements) {
    return std::list<T>(elements);
}

#undef FLOW_NO_RANGE

} // namespace flow
