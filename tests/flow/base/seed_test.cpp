#include "flow/base/detail/seed.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace flow;

TEST_CASE("seed: each use of each seed has its own, the same on every machine") {
    static_assert(seedFor(0, "") == 0);
    static_assert(seedFor(0, "a") == 0x61 * 0x100000001B3u);
    std::set<std::uint64_t> seen, drawn;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (int use = 0; use < 100; ++use) {
            std::uint64_t own = seedFor(seed, "use " + std::to_string(use));
            seen.insert(own);
            drawn.insert(DeterministicRandom(own).randomUInt64());
        }
    CHECK(seen.size() == 10'000);
    CHECK(drawn.size() == 10'000);
}
