#include "flow/wait/race_result.h"

#include "flow/core/void.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;

TEST_CASE("race result: its index and its values, also by std::visit") {
    RaceResult<int, std::string> result(std::in_place_index<1>, "reply");
    CHECK(result.index() == 1);
    CHECK(std::get<1>(result) == "reply");
    std::get<1>(result) += "!";
    CHECK(std::get<1>(std::as_const(result)) == "reply!");
    CHECK(std::get<std::string>(result) == "reply!");
    CHECK_THROWS_AS((void)std::get<int>(std::as_const(result)), std::bad_variant_access);
    CHECK_THROWS_AS((void)std::get<0>(result), std::bad_variant_access);
    CHECK(std::visit([](auto const& value) { return sizeof(value); }, result.variant()) == sizeof(std::string));
    std::string moved = std::get<std::string>(std::move(result));
    CHECK(moved == "reply!");
}

TEST_CASE("race result: values that can only be moved, twice the same type") {
    using Pointer = std::unique_ptr<int>;
    RaceResult<Pointer, Pointer> result(std::in_place_index<0>, std::make_unique<int>(7));
    Pointer taken = std::get<0>(std::move(result));
    CHECK(*taken == 7);
    RaceResult<Pointer, Pointer> second(std::in_place_index<1>, std::make_unique<int>(8));
    CHECK(*std::get<1>(std::move(second).variant()) == 8);
}
