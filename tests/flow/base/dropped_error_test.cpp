#include "flow/base/detail/dropped_error.h"

#include "flow/base/error.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;

namespace {

std::vector<std::string> reports;

void note(const char* where, Error error) {
    reports.push_back(std::string(error.name()) + " of " + where);
}

} // namespace

TEST_CASE("dropped error: the handler gets the words and the error, but not what only says that something ended") {
    reports.clear();
    DroppedErrorHandler before = setDroppedErrorHandler(note);
    reportDroppedBy("the server at 127.0.0.1:80", io_error());
    reportDroppedBy("the server at 127.0.0.1:80", actor_cancelled());
    reportDroppedBy("the server at 127.0.0.1:80", broken_promise());
    reportDroppedBy("another server", timed_out());
    setDroppedErrorHandler(before);
    CHECK(reports == std::vector<std::string>{"io_error of the server at 127.0.0.1:80", "timed_out of another server"});
}
