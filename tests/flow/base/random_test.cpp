#include "flow/base/random.h"

#include "flow/loop/real_loop.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <climits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

using flow::DeterministicRandom;

TEST_CASE("random: the numbers of a seed are fixed") {
    // By an implementation of splitmix64 and xoshiro256** in Python, from the published description.
    SUBCASE("seed 0") {
        DeterministicRandom random(0);
        CHECK(random.randomUInt64() == 11091344671253066420u);
        CHECK(random.randomUInt64() == 13793997310169335082u);
        CHECK(random.randomUInt64() == 1900383378846508768u);
        CHECK(random.randomUInt64() == 7684712102626143532u);
    }
    SUBCASE("seed 42") {
        DeterministicRandom random(42);
        CHECK(random.randomUInt64() == 1546998764402558742u);
        CHECK(random.randomUInt64() == 6990951692964543102u);
        CHECK(random.randomUInt64() == 12544586762248559009u);
        CHECK(random.randomUInt64() == 17057574109182124193u);
    }
    SUBCASE("the largest seed") {
        DeterministicRandom random(~std::uint64_t{0});
        CHECK(random.randomUInt64() == 10328197420357168392u);
        CHECK(random.randomUInt64() == 14156678507024973869u);
        CHECK(random.randomUInt64() == 9357971779955476126u);
        CHECK(random.randomUInt64() == 13791585006304312367u);
    }
    SUBCASE("the thousandth number") {
        DeterministicRandom random(7);
        for (int i = 0; i < 999; ++i)
            random.randomUInt64();
        CHECK(random.randomUInt64() == 15627334691016085909u);
    }
}

TEST_CASE("random: a copy gives the same numbers, another seed does not") {
    DeterministicRandom random(1);
    random.randomUInt64();
    DeterministicRandom copy = random;
    DeterministicRandom other(2);
    int same = 0;
    for (int i = 0; i < 100; ++i) {
        std::uint64_t number = random.randomUInt64();
        CHECK(copy.randomUInt64() == number);
        same += other.randomUInt64() == number;
    }
    CHECK(same == 0);
}

TEST_CASE("random: randomInt stays in its range and reaches all of it") {
    DeterministicRandom random(3);
    int counts[6] = {};
    for (int i = 0; i < 6000; ++i) {
        int die = random.randomInt(1, 7);
        REQUIRE(die >= 1);
        REQUIRE(die < 7);
        ++counts[die - 1];
    }
    for (int count : counts) {
        CHECK(count > 850);
        CHECK(count < 1150);
    }
    std::set<int> seen;
    for (int i = 0; i < 200; ++i)
        seen.insert(random.randomInt(-3, 2));
    CHECK(seen == std::set<int>{-3, -2, -1, 0, 1});
}

TEST_CASE("random: randomInt takes the high half of each number") {
    DeterministicRandom random(42), numbers(42);
    for (int i = 0; i < 100; ++i) {
        auto high = static_cast<unsigned __int128>(numbers.randomUInt64() >> 32);
        CHECK(random.randomInt(-50, 950) == static_cast<int>(high * 1000 >> 32) - 50);
    }
}

TEST_CASE("random: the extremes of int") {
    DeterministicRandom random(4);
    CHECK(random.randomInt(INT_MIN, INT_MIN + 1) == INT_MIN);
    CHECK(random.randomInt(INT_MAX - 1, INT_MAX) == INT_MAX - 1);
    int low = 0, high = 0;
    for (int i = 0; i < 1000; ++i) {
        int number = random.randomInt(INT_MIN, INT_MAX);
        REQUIRE(number < INT_MAX);
        low += number < INT_MIN / 2;
        high += number > INT_MAX / 2;
    }
    CHECK(low > 200);
    CHECK(high > 200);
    for (int i = 0; i < 100; ++i) {
        CHECK(random.randomInt(0, INT_MAX) >= 0);
        CHECK(random.randomInt(INT_MIN, 0) < 0);
    }
}

TEST_CASE("random: an empty range ends the program") {
    DeterministicRandom random(5);
    CHECK_DIES((void)random.randomInt(3, 3), "begin < end");
    CHECK_DIES((void)random.randomInt(4, 3), "begin < end");
    CHECK_DIES((void)random.randomInt(INT_MAX, INT_MIN), "begin < end");
}

TEST_CASE("random: random01 is in [0, 1) and has the right mean") {
    DeterministicRandom random(6), numbers(6);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        double number = random.random01();
        REQUIRE(number >= 0.0);
        REQUIRE(number < 1.0);
        CHECK(number * 0x1p53 == static_cast<double>(numbers.randomUInt64() >> 11));
        sum += number;
    }
    CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("random: randomInt64 and its extremes") {
    DeterministicRandom random(8);
    int low = 0;
    for (int i = 0; i < 1000; ++i) {
        std::int64_t number = random.randomInt64(INT64_MIN, INT64_MAX);
        low += number < 0;
        std::int64_t small = random.randomInt64(-2, 3);
        REQUIRE(small >= -2);
        REQUIRE(small < 3);
    }
    CHECK(low > 400);
    CHECK(low < 600);
    CHECK(random.randomInt64(INT64_MIN, INT64_MIN + 1) == INT64_MIN);
    CHECK_DIES((void)random.randomInt64(3, 3), "begin < end");
}

TEST_CASE("random: skewed numbers are small as often as large") {
    DeterministicRandom random(9);
    int small = 0;
    for (int i = 0; i < 1000; ++i) {
        std::uint32_t number = random.randomSkewedUInt32(1, 1 << 16);
        REQUIRE(number >= 1);
        REQUIRE(number < 1 << 16);
        small += number < 1 << 8;
    }
    CHECK(small > 420);
    CHECK(small < 580);
    CHECK(random.randomSkewedUInt32(1, 2) == 1);
    CHECK(random.randomSkewedUInt32(7, 8) == 7);
    DeterministicRandom once = random;
    (void)once.randomUInt64();
    CHECK(random.randomSkewedUInt32(UINT32_MAX - 1, UINT32_MAX) == UINT32_MAX - 1);
    CHECK(random.peek() == once.peek()); // it draws once, not until a number of the range comes
    int eights = 0;
    for (int i = 0; i < 1000; ++i) {
        std::uint32_t number = random.randomSkewedUInt32(5, 9);
        REQUIRE(number >= 5);
        REQUIRE(number < 9);
        eights += number == 8;
    }
    CHECK(eights > 90); // an eighth of its power, beside three quarters of the one before
    CHECK(eights < 200);
    CHECK_DIES((void)random.randomSkewedUInt32(0, 5), "1 <= begin");
}

TEST_CASE("random: choices, orders, coins and text") {
    DeterministicRandom random(10);
    std::vector<int> numbers = {1, 2, 3};
    int counts[4] = {}, heads = 0;
    std::map<std::vector<int>, int> orders;
    for (int i = 0; i < 6000; ++i) {
        ++counts[random.randomChoice(numbers)];
        std::vector<int> shuffled = numbers;
        random.randomShuffle(shuffled);
        ++orders[shuffled];
        heads += random.coinflip();
    }
    for (int i = 1; i <= 3; ++i)
        CHECK(counts[i] > 1800);
    CHECK(orders.size() == 6);
    for (auto const& order : orders)
        CHECK(order.second > 850);
    CHECK(heads > 2800);
    CHECK(heads < 3200);
    int array[] = {5};
    CHECK(random.randomChoice(array) == 5);
    random.randomShuffle(array);
    std::vector<int> none;
    random.randomShuffle(none);
    CHECK_DIES((void)random.randomChoice(none), "begin < end");
    std::string text = random.randomAlphaNumeric(1000);
    CHECK(text.size() == 1000);
    CHECK(std::set<char>(text.begin(), text.end()).size() == 62);
    CHECK(text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
          std::string::npos);
    DeterministicRandom same = random;
    CHECK(std::string(1, random.randomAlphaNumeric()) == same.randomAlphaNumeric(1));
    unsigned char bytes[5] = {1, 1, 1, 1, 7};
    random.randomBytes(bytes, 4);
    CHECK(bytes[4] == 7);
    CHECK((bytes[0] != 1 || bytes[1] != 1 || bytes[2] != 1 || bytes[3] != 1));
}

TEST_CASE("random: peek returns the next number without taking it") {
    DeterministicRandom random(12);
    std::uint64_t next = random.peek();
    CHECK(random.peek() == next);
    CHECK(random.randomUInt64() == next);
    CHECK(random.peek() != next);
}

TEST_CASE("random: unique ids") {
    DeterministicRandom random(11);
    std::set<flow::UID> ids;
    for (int i = 0; i < 1000; ++i)
        ids.insert(random.randomUniqueID());
    CHECK(ids.size() == 1000);
    CHECK(ids.count(flow::UID()) == 0);
}

TEST_CASE("random: each thread has a generator, which repeats from its seed") {
    flow::setThreadLocalDeterministicRandomSeed(42);
    CHECK(flow::deterministicRandom()->randomUInt64() == 1546998764402558742u);
    std::uint64_t other = 0;
    std::thread([&] { other = flow::deterministicRandom()->randomUInt64(); }).join();
    CHECK(other == DeterministicRandom(1).randomUInt64());
    CHECK(flow::deterministicRandom()->randomUInt64() == 6990951692964543102u);
    flow::setThreadLocalDeterministicRandomSeed(42);
    CHECK(flow::deterministicRandom()->randomUInt64() == 1546998764402558742u);
    std::uint64_t entropy = flow::nondeterministicRandom()->randomUInt64();
    std::thread([&] { CHECK(flow::nondeterministicRandom()->randomUInt64() != entropy); }).join();
    flow::setThreadLocalDeterministicRandomSeed(1);
}

TEST_CASE("random: on a real loop a generator that nothing has used or seeded begins anywhere") {
    auto first = [](auto prepare) {
        std::uint64_t number = 0;
        std::thread([&] {
            prepare();
            flow::RealLoop loop;
            number = flow::deterministicRandom()->randomUInt64();
        }).join();
        return number;
    };
    std::uint64_t one = first([] {}), another = first([] {});
    CHECK(one != another);
    CHECK(first([] { flow::setThreadLocalDeterministicRandomSeed(42); }) == 1546998764402558742u);
    flow::DeterministicRandom repeated(1);
    (void)repeated.randomUInt64();
    CHECK(first([] { (void)flow::deterministicRandom()->randomUInt64(); }) == repeated.randomUInt64());
}

TEST_CASE("random: the generator of a thread can be replaced for a while") {
    flow::setThreadLocalDeterministicRandomSeed(5);
    flow::DeterministicRandom other(6), same(6);
    flow::DeterministicRandom* first = flow::deterministicRandom();
    CHECK(flow::replaceDeterministicRandom(&other) == first);
    CHECK(flow::deterministicRandom()->randomUInt64() == same.randomUInt64());
    CHECK(flow::replaceDeterministicRandom(first) == &other);
    CHECK(flow::deterministicRandom()->randomUInt64() == flow::DeterministicRandom(5).randomUInt64());
}
