#include "flow/sim/failure.h"

#include <doctest/doctest.h>

using flow::SimulationFailure;

TEST_CASE("simulation failure: numbers, pointers and ids make no difference") {
    auto signature = [](const char* text) { return SimulationFailure::of(text).signature; };
    CHECK(signature("balance is 37, not 40.5\nand more") == "balance is #, not #.#");
    CHECK(signature("server12 of s1") == "server# of s#");
    CHECK(signature("object 0x7ffc01ab at 0x1") == "object # at #");
    CHECK(signature("0xffff") == "#");
    CHECK(signature("request e29b41d4 of 550e8400-e29b-41d4-a716-446655440000") == "request # of #-#-#-#-#");
    CHECK(signature("DEAD0001_x") == "#_x");
    CHECK(signature("added a bad cafe to a1 for 500ms: 0x, 0xy") == "added a bad cafe to a# for #ms: #x, #xy");
    CHECK(signature("") == "");
    CHECK(SimulationFailure::of("3\n4").text == "3\n4");
}
