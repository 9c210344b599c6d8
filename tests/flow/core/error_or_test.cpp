#include "flow/core/error_or.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace flow;

TEST_CASE("ErrorOr: a value") {
    ErrorOr<std::string> answer = std::string("yes");
    CHECK(answer.present());
    CHECK(!answer.isError());
    CHECK(!answer.isError(error_code_timed_out));
    CHECK(!answer.isError(error_code_success));
    CHECK(answer.get() == "yes");
    CHECK(answer.orDefault("no") == "yes");
    CHECK_DIES((void)answer.getError(), "ErrorOr::getError() on a value");
}

TEST_CASE("ErrorOr: an error") {
    ErrorOr<std::string> answer = timed_out().asInjectedFault();
    CHECK(!answer.present());
    CHECK(answer.isError());
    CHECK(answer.isError(error_code_timed_out));
    CHECK(!answer.isError(error_code_io_error));
    CHECK(answer.getError() == timed_out().asInjectedFault());
    CHECK(answer.orDefault("no") == "no");
    CHECK_THROWS_AS((void)answer.get(), Error);
    try {
        (void)std::move(answer).get();
        FAIL("no error was thrown");
    } catch (Error const& error) {
        CHECK(error == timed_out().asInjectedFault());
    }
}

TEST_CASE("ErrorOr: copies, moves and assignments across the two kinds") {
    ErrorOr<std::string> value = std::string("text"), error = io_error();
    ErrorOr<std::string> copy = value;
    copy = error;
    CHECK(copy.isError(error_code_io_error));
    copy = value;
    CHECK(copy.get() == "text");
    copy = ErrorOr<std::string>(file_not_found());
    CHECK(copy.isError(error_code_file_not_found));
    CHECK(std::move(value).get() == "text");
    ErrorOr<int> number = 7;
    number = 8;
    CHECK(number.get() == 8);
}

TEST_CASE("ErrorOr: move-only values") {
    ErrorOr<std::unique_ptr<int>> answer = std::make_unique<int>(5);
    CHECK(*answer.get() == 5);
    ErrorOr<std::unique_ptr<int>> moved = std::move(answer);
    std::unique_ptr<int> taken = std::move(moved).get();
    CHECK(*taken == 5);
}

TEST_CASE("ErrorOr: an Error that was not set ends the program") {
    CHECK_DIES(ErrorOr<int>{Error()}, "was not set");
    CHECK(ErrorOr<int>(success()).isError(0));
}

TEST_CASE("ErrorOr: made from nothing, from other types, and of Error") {
    CHECK(ErrorOr<int>().isError(error_code_default_error_or));
    ErrorOr<int> three = 3, late = timed_out();
    CHECK(ErrorOr<long>(three).get() == 3L);
    CHECK(ErrorOr<long>(late).getError() == timed_out());
    CHECK(ErrorOr<Error>(io_error()).get() == io_error());
    CHECK(ErrorOr<Error>::failed(io_error()).getError() == io_error());
    CHECK(ErrorOr<int>::failed(io_error()).isError());
}

TEST_CASE("ErrorOr: an error in a nested ErrorOr is not the error of the outer one") {
    ErrorOr<int> inner = timed_out();
    ErrorOr<ErrorOr<int>> outer = inner;
    REQUIRE(outer.present());
    CHECK(outer.get().getError() == timed_out());
}

TEST_CASE("ErrorOr: map, flatMap, castTo, pointers and comparison") {
    ErrorOr<std::string> word = std::string("four"), none = io_error();
    CHECK(word.map([](std::string const& w) { return w.size(); }).get() == 4);
    CHECK(none.map([](std::string const& w) { return w.size(); }).getError() == io_error());
    auto first = [](std::string const& w) { return w.empty() ? ErrorOr<char>(timed_out()) : ErrorOr<char>(w[0]); };
    CHECK(word.flatMap(first).get() == 'f');
    CHECK(ErrorOr<std::string>(std::string()).flatMap(first).getError() == timed_out());
    CHECK(none.flatMap(first).getError() == io_error());
    CHECK(ErrorOr<double>(2.5).castTo<int>().get() == 2);
    CHECK(word->size() == 4);
    (*word)[0] = 'p';
    word.get() += "s";
    CHECK(*word == "pours");
    CHECK(none == ErrorOr<std::string>(io_error()));
    CHECK_FALSE(word == none);
}

TEST_CASE("ErrorOr: map and flatMap of members, with arguments, and through pointers") {
    struct Node {
        int value = 7;
        int plus(int more) const { return value + more; }
        ErrorOr<int> ifAbove(int least) const { return value > least ? ErrorOr<int>(value) : ErrorOr<int>(io_error()); }
    };
    Node node;
    ErrorOr<Node> held = node, none = timed_out();
    CHECK(held.map(&Node::value).get() == 7);
    CHECK(held.map(&Node::plus, 2).get() == 9);
    CHECK(held.flatMap(&Node::ifAbove, 7).getError() == io_error());
    CHECK(none.map(&Node::plus, 2).getError() == timed_out());
    ErrorOr<Node*> pointer = &node, failed = timed_out(), null = static_cast<Node*>(nullptr);
    CHECK(pointer.mapRef(&Node::value).get() == 7);
    CHECK(pointer.mapRef(&Node::plus, 1).get() == 8);
    CHECK(pointer.flatMapRef(&Node::ifAbove, 6).get() == 7);
    CHECK(pointer.mapRef([](Node& n) { return ++n.value; }).get() == 8);
    CHECK(failed.mapRef(&Node::value).getError() == timed_out());
    CHECK(failed.flatMapRef(&Node::ifAbove, 6).getError() == timed_out());
    test::Death death = test::runInChild([&] { (void)null.mapRef(&Node::value); });
    CHECK(death.says("ErrorOr::mapRef() of a null pointer"));
}
