#include "flow/trace/detail/ready_order.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("ready order: finds each again, past those that were cancelled, and keeps no more than it may") {
    WaiterNode waiters[8] = {};
    trace::ReadyOrder<int> order(4);
    for (int i = 0; i < 6; ++i)
        CHECK(order.push(&waiters[i], TaskPriority::Default, i) == (i < 4));
    CHECK(order.push(&waiters[6], TaskPriority::Max, 6));
    CHECK(order.take(&waiters[0], TaskPriority::Default) == 0);
    CHECK(order.take(&waiters[2], TaskPriority::Default) == 2); // 1 was cancelled
    CHECK(order.take(&waiters[1], TaskPriority::Default) == std::nullopt);
    CHECK(order.take(&waiters[6], TaskPriority::Max) == 6);
    CHECK(order.push(&waiters[7], TaskPriority::Default, 7));
    CHECK(order.take(&waiters[7], TaskPriority::Default) == 7);
    for (int i = 0; i < 100; ++i) {
        order.push(&waiters[i % 8], TaskPriority::Low, i);
        order.push(&waiters[i % 8], TaskPriority::Low, -1);
        CHECK(order.take(&waiters[i % 8], TaskPriority::Low) == i);
        CHECK(order.take(&waiters[i % 8], TaskPriority::Low) == -1);
    }
    order.push(&waiters[7], TaskPriority::Max, 7);
    order.clear();
    CHECK(order.take(&waiters[7], TaskPriority::Max) == std::nullopt);
}
