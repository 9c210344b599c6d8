#include "flow/emitted/caught_exception.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using flow::CaughtException;
using flow::RaisedException;

struct Counting {
    std::shared_ptr<int> count = std::make_shared<int>(7);
};

TEST_CASE("caught exception: refers to the exception itself") {
    RaisedException raised;
    const void* address = nullptr;
    try {
        throw std::runtime_error("what");
    } catch (std::exception& caught) {
        address = &caught;
        raised.hold(caught);
    }
    CaughtException kept(raised);
    CHECK(&kept.as<std::exception&>() == address);
    CHECK(std::string(kept.as<const std::exception&>().what()) == "what");
}

TEST_CASE("caught exception: lets the exception go with itself") {
    std::weak_ptr<int> count;
    {
        RaisedException raised;
        try {
            throw Counting();
        } catch (Counting const& caught) {
            count = caught.count;
            raised.hold(caught);
        }
        CaughtException kept;
        kept = CaughtException(raised);
        Counting copy = kept.as<Counting>();
        CHECK(*copy.count == 7);
        CHECK_FALSE(count.expired());
    }
    CHECK(count.expired());
}

TEST_CASE("caught exception: keeps a pointer by its value") {
    static const char text[] = "text";
    RaisedException raised;
    try {
        throw text;
    } catch (const char* const& caught) {
        raised.hold(caught);
    }
    CaughtException kept(raised);
    CHECK(kept.as<const char*>() == text);
    CHECK(kept.as<const char* const>() == text);
}

int seven() {
    return 7;
}

TEST_CASE("caught exception: a function's address, and what is volatile") {
    RaisedException raised;
    try {
        throw &seven;
    } catch (int (*const& caught)()) {
        raised.hold(caught);
    }
    CaughtException kept(raised);
    CHECK(kept.as<int (*)()>()() == 7);
    try {
        throw 8;
    } catch (volatile int& caught) {
        raised.hold(caught);
    }
    kept = CaughtException(raised);
    CHECK(kept.as<volatile int&>() == 8);
}

TEST_CASE("caught exception: rethrows the same exception") {
    RaisedException raised;
    try {
        throw std::out_of_range("far");
    } catch (std::logic_error& caught) {
        raised.hold(caught);
    }
    CaughtException kept(raised);
    for (int times = 0; times < 2; ++times) {
        try {
            kept.rethrow();
        } catch (std::out_of_range& caught) {
            CHECK(&caught == &kept.as<std::logic_error&>());
        }
    }
}

} // namespace
