#include "flow/sim/history.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

using flow::History;
using flow::Optional;

TEST_CASE("history: operations keep the request, the answer, and the times") {
    History history;
    auto put = history.invoke(1, "a", History::Put{"x"});
    auto get = history.invoke(2, "b", History::Get{});
    history.ok(get, "y");
    auto swap = history.invoke(2, "a", History::CompareAndSet{"x", {}});
    history.ok(put);
    history.ok(swap, true);
    auto remove = history.invoke(1, "c", History::Remove{});
    auto lost = history.invoke(2, "a", History::CompareAndSet{{}, "z"});
    history.failed(remove);
    auto const& operations = history.operations();
    REQUIRE(operations.size() == 5);
    CHECK(operations[put.index].key == "a");
    CHECK(operations[put.index].client == 1);
    CHECK(operations[put.index].invoked == 0);
    CHECK(operations[put.index].returned == 4);
    CHECK(operations[get.index].invoked == 1);
    CHECK(operations[get.index].returned == 2);
    CHECK(operations[swap.index].succeeded);
    CHECK(operations[remove.index].outcome == History::Outcome::failed);
    CHECK(operations[remove.index].returned == 8);
    CHECK(operations[lost.index].outcome == History::Outcome::unknown);
    CHECK(operations[lost.index].returned == History::kNever);
    const char* texts[][2] = {{"put(\"x\")", "ok"},
                              {"get()", "\"y\""},
                              {"compareAndSet(\"x\", none)", "true"},
                              {"remove()", "failed"},
                              {"compareAndSet(none, \"z\")", "unknown"}};
    for (std::size_t i = 0; i < operations.size(); ++i) {
        CHECK(operations[i].call() == texts[i][0]);
        CHECK(operations[i].result() == texts[i][1]);
    }
}

TEST_CASE("history: results of every kind as text") {
    History history;
    history.ok(history.invoke(1, "a", History::Get{}), {});
    history.ok(history.invoke(1, "a", History::CompareAndSet{"1", "2"}), false);
    history.ok(history.invoke(1, "a", History::Remove{}));
    CHECK(history.operations()[0].result() == "none");
    CHECK(history.operations()[1].result() == "false");
    CHECK(history.operations()[2].result() == "ok");
}

TEST_CASE("history: values as text are short and printable") {
    CHECK(flow::valueToText({}) == "none");
    CHECK(flow::valueToText(std::string()) == "\"\"");
    CHECK(flow::valueToText(std::string("a\0\n", 3)) == "\"a\\x00\\x0a\"");
    CHECK(flow::valueToText(std::string(24, 'v')) == '"' + std::string(24, 'v') + '"');
    CHECK(flow::valueToText(std::string(25, 'v')) == '"' + std::string(24, 'v') + "\"...(25 bytes)");
}

TEST_CASE("history: an operation ends once") {
    History history;
    auto put = history.invoke(1, "a", History::Put{"x"});
    history.ok(put);
    CHECK_DIES(history.ok(put), "has ended before");
    CHECK_DIES(history.failed(put), "has ended before");
    CHECK_DIES(history.ok(History::Invoked<History::Get>{1}, "x"), "none of this history");
}
