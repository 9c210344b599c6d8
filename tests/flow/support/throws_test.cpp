#define COUNT_THROWS_HERE
#include "tests/flow/support/throws.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using flow::test::Throws;

TEST_CASE("support: each throw is counted once, in any library") {
    Throws throws;
    try {
        throw 1;
    } catch (int) {
    }
    CHECK(throws.count() == 1);
    std::exception_ptr kept;
    try {
        try {
            throw std::runtime_error("2");
        } catch (...) {
            throw;
        }
    } catch (...) {
        kept = std::current_exception();
    }
    CHECK(throws.count() == 3);
    try {
        std::rethrow_exception(kept);
    } catch (std::runtime_error& error) {
        CHECK(error.what() == std::string("2"));
    }
    CHECK(throws.count() == 4);
    (void)std::make_exception_ptr(5);
    CHECK(throws.count() == 4);
}
