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

TEST_CASE("ErrorOr: an Error that says success ends the program") {
    CHECK_DIES(ErrorOr<int>{Error()}, "says success");
}
