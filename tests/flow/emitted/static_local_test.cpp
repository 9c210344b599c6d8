#include "flow/emitted/static_local.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

using namespace flow;

TEST_CASE("static local: made once, at first use") {
    StaticLocal<std::string> storage;
    int made = 0;
    auto& first = storage.get([&]() -> std::string { return ++made, "text"; });
    first += "!";
    auto& second = storage.get([&]() -> std::string { return ++made, "other"; });
    CHECK(&first == &second);
    CHECK(second == "text!");
    CHECK(made == 1);
}

TEST_CASE("static local: tries again after an initialiser has thrown") {
    StaticLocal<std::unique_ptr<int>> storage;
    CHECK_THROWS_AS(storage.get([]() -> std::unique_ptr<int> { throw std::runtime_error("not yet"); }),
                    std::runtime_error);
    CHECK(*storage.get([] { return std::make_unique<int>(3); }) == 3);
}

TEST_CASE("static local: constants and references") {
    StaticLocal<int const> constant;
    static_assert(std::is_same_v<decltype(constant.get([] { return 1; })), int const&>);
    CHECK(constant.get([] { return 1; }) == 1);
    int target = 5;
    StaticLocal<int&> reference;
    CHECK(&reference.get([&]() -> int& { return target; }) == &target);
    static_assert(std::is_same_v<decltype(reference.get([&]() -> int& { return target; })), int&>);
}

TEST_CASE("static local: a deduced type") {
    static DeducedStatic<struct FirstTag> first;
    static DeducedStatic<struct SecondTag> second;
    int targets[2] = {1, 2};
    auto& pointer = first.get([&]() -> auto* { return &targets[0]; });
    pointer++;
    CHECK(&first.get([&]() -> auto* { return &targets[0]; }) == &pointer);
    CHECK(*first.get([&]() -> auto* { return &targets[0]; }) == 2);
    CHECK(&second.get([&]() -> auto* { return &targets[0]; }) != &pointer);
    CHECK(&second.get([&]() -> auto const& { return targets[1]; }) == &targets[1]);
}
