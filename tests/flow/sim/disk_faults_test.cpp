#include "flow/sim/disk_faults.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace flow;
using detail::DiskDice;

TEST_CASE("disk faults: each kind has a name of its own") {
    std::set<std::string> names;
    for (int i = 0; i < kDiskFaultKinds; ++i)
        names.insert(nameOf(static_cast<DiskFault>(i)));
    CHECK(names.size() == kDiskFaultKinds);
    CHECK(nameOf(DiskFault::LostWrite) == std::string("lostWrite"));
    CHECK(nameOf(DiskFault::SlowSync) == std::string("slowSync"));
}

TEST_CASE("disk faults: strike as often as is said, and each is told of") {
    DeterministicRandom random(5);
    DiskFaults faults;
    int told = 0;
    DiskDice dice{random, faults, [&](DiskFault fault) { told += fault == DiskFault::BitFlip; }};
    auto strikes = [&](double likely) {
        faults.bitFlip = likely;
        int count = 0;
        for (int i = 0; i < 10000; ++i)
            count += dice.strikes(&DiskFaults::bitFlip, DiskFault::BitFlip);
        return count;
    };
    CHECK(strikes(0) == 0);
    CHECK(strikes(1) == 10000);
    int some = strikes(0.3);
    CHECK(some > 2800);
    CHECK(some < 3200);
    CHECK(told == 10000 + some);
}
