#include "flow/emitted/range_state.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace own {

struct Down {
    int from;
};
struct Zero {};
struct DownIterator {
    int at;
    int operator*() const { return at; }
    DownIterator& operator++() {
        --at;
        return *this;
    }
    bool operator!=(Zero) const { return at != 0; }
};
DownIterator begin(Down const& down) {
    return {down.from};
}
Zero end(Down const&) {
    return {};
}

} // namespace own

namespace {

using flow::listOf;
using flow::RangeState;

template <class State>
std::vector<int> rest(State& range) {
    std::vector<int> found;
    for (; range.more(); range.next())
        found.push_back(*range);
    return found;
}

TEST_CASE("range state: refers to an lvalue") {
    std::vector<int> v = {1, 2};
    RangeState<decltype((v))> range;
    range.start(v);
    static_assert(std::is_same_v<decltype(*range), int&>);
    *range = 10;
    CHECK(rest(range) == (std::vector<int>{10, 2}));
    CHECK(v[0] == 10);
    range.start(v);
    CHECK(rest(range) == (std::vector<int>{10, 2}));
}

TEST_CASE("range state: a constant range has constant elements") {
    const std::vector<int> v = {3};
    RangeState<decltype((v))> range;
    static_assert(std::is_same_v<decltype(*range), const int&>);
    range.start(v);
    CHECK(rest(range) == v);
}

TEST_CASE("range state: keeps a temporary until clear") {
    auto counted = std::make_shared<int>(5);
    std::weak_ptr<int> watched = counted;
    auto make = [&] { return std::vector<std::shared_ptr<int>>{std::move(counted)}; };
    RangeState<decltype((make()))> range;
    range.clear();
    range.start(make());
    static_assert(std::is_same_v<decltype(*range), std::shared_ptr<int>&>);
    CHECK(**range == 5);
    CHECK_FALSE(watched.expired());
    range.clear();
    CHECK(watched.expired());
}

TEST_CASE("range state: a range with a throwing begin() is destroyed at once") {
    auto counted = std::make_shared<int>(5);
    std::weak_ptr<int> watched = counted;
    struct Stubborn {
        std::shared_ptr<int> held;
        const int cannotBeAssigned = 1;
        int* begin() { throw 7; }
        int* end() { return nullptr; }
    };
    RangeState<Stubborn> range;
    CHECK_THROWS_AS(range.start(Stubborn{std::move(counted)}), int);
    CHECK(watched.expired());
    range.clear();
}

TEST_CASE("range state: a temporary that cannot be moved is refused") {
    struct Fixed {
        Fixed() = default;
        Fixed(Fixed&&) = delete;
        int* begin() { return nullptr; }
        int* end() { return nullptr; }
    };
    static_assert(std::is_same_v<RangeState<Fixed>::Argument, flow::detail::RefusedRange<Fixed>>);
    static_assert(std::is_same_v<RangeState<Fixed&>::Argument, Fixed&>);
}

TEST_CASE("range state: an array is referred to") {
    int array[] = {1, 2, 3};
    RangeState<decltype((array))> range;
    range.start(array);
    CHECK(rest(range) == (std::vector<int>{1, 2, 3}));
}

TEST_CASE("range state: what may be part of a temporary is moved and kept until it is cleared") {
    struct Reply {
        std::vector<std::shared_ptr<int>> items;
    };
    auto counted = std::make_shared<int>(4);
    auto ask = [&] { return Reply{{counted}}; };
    RangeState<decltype((ask().items))> range;
    range.start(ask().items);
    CHECK(**range == 4);
    CHECK(counted.use_count() == 2);
    range.next();
    CHECK(!range.more());
    range.clear();
    CHECK(counted.use_count() == 1);
}

TEST_CASE("range state: finds free functions and sentinels") {
    RangeState<own::Down> range;
    range.start(own::Down{3});
    CHECK(rest(range) == (std::vector<int>{3, 2, 1}));
}

TEST_CASE("range state: the iterator of a named range may come into being when it is assigned") {
    struct Iterator {
        int const n;
        explicit Iterator(int m) : n(m) {}
    };
    static_assert(std::is_same_v<flow::IteratorOf<std::vector<int>&>, std::vector<int>::iterator>);
    flow::detail::LateIterator<std::vector<int>::iterator> late;
    std::vector<int> numbers{1, 2, 3};
    int sum = 0;
    for (late = numbers.begin(); late != numbers.end(); ++late)
        sum += *late;
    CHECK(sum == 6);
    flow::detail::LateIterator<Iterator> constant;
    constant = Iterator(4);
    constant = Iterator(5);
}

TEST_CASE("range state: goes over a list") {
    RangeState<decltype((listOf({true, false})))> range;
    static_assert(std::is_same_v<decltype(*range), const bool&>);
    range.start(listOf({true, false}));
    CHECK(rest(range) == (std::vector<int>{1, 0}));
}

TEST_CASE("range state: in untyped storage") {
    auto counted = std::make_shared<int>(5);
    std::weak_ptr<int> watched = counted;
    auto make = [&] { return std::vector<std::shared_ptr<int>>{counted, counted}; };
    {
        flow::AnyRange any;
        flow::RangeIn<RangeState<decltype((make()))>> range(any);
        range.clear();
        range.start(make());
        counted.reset();
        static_assert(std::is_same_v<decltype(*range), std::shared_ptr<int>&>);
        int found = 0;
        for (; range.more(); range.next())
            found += **range;
        CHECK(found == 10);
        range.clear();
        CHECK(watched.expired());

        std::vector<int> v = {1, 2};
        flow::RangeIn<RangeState<decltype((v))>> lvalue(any);
        lvalue.start(v);
        CHECK(&*lvalue == &v[0]);
        CHECK(rest(lvalue) == v);
    }
}

TEST_CASE("range state: of an expression that is spelled once") {
    auto counted = std::make_shared<int>(2);
    flow::AnyRange any;
    flow::RangeBy range(any, [&](flow::AnyRange& to) {
        return to.keep([held = counted] { return std::vector<std::shared_ptr<int>>(2, held); }());
    });
    CHECK(counted.use_count() == 1);
    range.start();
    CHECK(counted.use_count() == 3);
    int found = 0;
    for (; range.more(); range.next())
        found += **range;
    CHECK(found == 4);
    range.clear();
    CHECK(counted.use_count() == 1);

    std::vector<int> v = {1, 2};
    flow::RangeBy lvalue(any, [&](flow::AnyRange& to) { return to.keep([&]() -> std::vector<int>& { return v; }()); });
    lvalue.start();
    CHECK(&*lvalue == &v[0]);
    CHECK(rest(lvalue) == v);
}

} // namespace
