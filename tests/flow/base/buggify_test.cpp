#include "flow/base/buggify.h"

#include "flow/base/random.h"
#include "flow/sim/world.h"

#include <doctest/doctest.h>

#include <vector>

using namespace flow;

TEST_CASE("buggify: false outside of a simulation, and knobs are what they are given") {
    for (int i = 0; i < 1000; ++i) {
        CHECK(!buggify());
        CHECK(!buggify(1.0));
    }
    CHECK(knob("any", 3.5) == 3.5);
}

TEST_CASE("buggify: a seed arms a quarter of the sites, and an armed one is true in a quarter of its visits") {
    constexpr int kSites = 400, kVisits = 400;
    auto armed = [](std::uint64_t seed) {
        Faults faults;
        faults.buggify = 0.25;
        World world(seed, faults);
        BuggifySource& source = *detail::buggifySource;
        std::vector<int> hits(kSites);
        for (int site = 0; site < kSites; ++site)
            for (int i = 0; i < kVisits; ++i)
                hits[site] += source.buggify("some/file.cpp", site + 1);
        return hits;
    };
    std::vector<int> hits = armed(1);
    int count = 0, total = 0;
    for (int each : hits) {
        count += each != 0;
        total += each;
    }
    CHECK(double(count) / kSites == doctest::Approx(0.25).epsilon(0.25));
    CHECK(double(total) / count / kVisits == doctest::Approx(0.25).epsilon(0.1));
    CHECK(hits == armed(1));
    std::vector<int> others = armed(2);
    int both = 0;
    for (int site = 0; site < kSites; ++site)
        both += hits[site] != 0 && others[site] != 0;
    CHECK(both < count / 2);
}

TEST_CASE("buggify: a site is the same however its file was named to the compiler") {
    Faults faults;
    faults.buggify = 1;
    World world(1, faults);
    BuggifySource& source = *detail::buggifySource;
    for (unsigned line = 1; line < 100; ++line)
        CHECK(source.buggify("/home/a/file.cpp", line) == source.buggify("file.cpp", line));
}

TEST_CASE("buggify: an armed site has the probability that it asks for") {
    Faults faults;
    faults.buggify = 0.25;
    World world(1, faults);
    int always = 0, never = 0, sometimes = 0;
    BuggifySource& source = *detail::buggifySource;
    for (unsigned line = 1; line <= 400; ++line) {
        int hits = 0;
        for (int i = 0; i < 100; ++i)
            hits += source.buggify("file.cpp", line, 1);
        CHECK((hits == 0 || hits == 100));
        always += hits == 100;
        never += source.buggify("file.cpp", line, 0);
        for (int i = 0; i < 100; ++i)
            sometimes += source.buggify("file.cpp", line, 0.1);
    }
    CHECK(always / 400.0 == doctest::Approx(0.25).epsilon(0.25));
    CHECK(never == 0);
    CHECK(sometimes / (always * 100.0) == doctest::Approx(0.1).epsilon(0.1));
}
