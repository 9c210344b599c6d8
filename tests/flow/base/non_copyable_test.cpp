#include "flow/base/non_copyable.h"

#include <doctest/doctest.h>

#include <type_traits>

namespace {

struct Connection : flow::NonCopyable {
    int port = 1;
};

} // namespace

TEST_CASE("non_copyable: can be made, and nothing else") {
    Connection connection;
    CHECK(connection.port == 1);
    CHECK(sizeof(Connection) == sizeof(int));
    CHECK_FALSE(std::is_copy_constructible_v<Connection>);
    CHECK_FALSE(std::is_move_constructible_v<Connection>);
    CHECK_FALSE(std::is_copy_assignable_v<Connection>);
    CHECK_FALSE(std::is_move_assignable_v<Connection>);
    CHECK_FALSE(std::is_default_constructible_v<flow::NonCopyable>);
}
