#include "flow/threads/processors.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <sched.h>
#include <thread>

using namespace flow;

TEST_CASE("processors: the text of cpu.max") {
    CHECK(processorsOfCpuMax("150000 100000") == 1.5);
    CHECK(processorsOfCpuMax("400000 100000\n") == 4);
    CHECK(processorsOfCpuMax("1000 100000") == 0.01);
    for (char const* text : {"max 100000", "max 100000\n", "", "100000", "100000 ", " 100000", "0 100000", "1 0",
                             "-1 1", "1 1 1", "1 max"})
        CHECK_MESSAGE(!processorsOfCpuMax(text), text);
}

TEST_CASE("processors: those that the process may use") {
    std::vector<int> allowed = allowedProcessors();
    REQUIRE(!allowed.empty());
    CHECK(std::ranges::is_sorted(allowed));
    CHECK(usableProcessors() >= 1);
    CHECK(usableProcessors() <= static_cast<int>(allowed.size()));
    std::thread([&] { // the mask of one thread
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(allowed.back(), &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) {
            CHECK(allowedProcessors() == std::vector<int>{allowed.back()});
            CHECK(usableProcessors() == 1);
        }
    })
        .join();
}
