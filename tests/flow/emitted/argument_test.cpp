#include "flow/emitted/argument.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

using flow::Argument;

namespace {
struct Incomplete;
using WhileIncomplete = Argument<Incomplete>;
struct Incomplete {
    std::unique_ptr<int> only;
};
struct Immovable {
    Immovable(Immovable&&) = delete;
};
} // namespace

TEST_CASE("argument: what can be copied is passed by const reference, what can only be moved by rvalue reference") {
    CHECK(std::is_same_v<Argument<int>, int const&>);
    CHECK(std::is_same_v<Argument<std::string>, std::string const&>);
    CHECK(std::is_same_v<Argument<std::unique_ptr<int>>, std::unique_ptr<int>&&>);
    CHECK(std::is_same_v<Argument<Immovable>, Immovable const&>);
    CHECK(std::is_same_v<Argument<int&>, int&>);
    CHECK(std::is_same_v<WhileIncomplete, Incomplete const&>);
}

TEST_CASE("argument: what the actor keeps is the type without what it is passed by") {
    CHECK(std::is_same_v<flow::Own<Argument<std::string>>, std::string>);
    CHECK(std::is_same_v<flow::Own<Argument<std::unique_ptr<int>>>, std::unique_ptr<int>>);
    CHECK(std::is_same_v<flow::Own<Argument<int&>>, int&>);
    CHECK(std::is_same_v<flow::Own<Argument<int*>>, int*>);
    CHECK(std::is_same_v<flow::Own<WhileIncomplete>, Incomplete>);
}
