#include "flow/loop/priority.h"

#include "flow/loop/detail/ready_queue.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::detail;

TEST_CASE("priority: the names stand in order of urgency") {
    CHECK(TaskPriority::Zero < TaskPriority::Min);
    CHECK(TaskPriority::Min < TaskPriority::Low);
    CHECK(TaskPriority::Low < TaskPriority::DefaultYield);
    CHECK(TaskPriority::DefaultYield < TaskPriority::DefaultDelay);
    CHECK(TaskPriority::DefaultDelay < TaskPriority::Default);
    CHECK(TaskPriority::Default < TaskPriority::ReadSocket);
    CHECK(TaskPriority::ReadSocket < TaskPriority::High);
    CHECK(TaskPriority::High < TaskPriority::Max);
}

TEST_CASE("priority: numbers outside the range count as its nearest end") {
    CHECK(ReadyQueue::levelOf(static_cast<TaskPriority>(-5)) == 0);
    CHECK(ReadyQueue::levelOf(static_cast<TaskPriority>(1234)) == 1234);
    CHECK(ReadyQueue::levelOf(TaskPriority::Max) == 65535);
    CHECK(ReadyQueue::levelOf(static_cast<TaskPriority>(70000)) == 65535);
}
