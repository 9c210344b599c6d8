#include "flow/compat/indexed_set.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

using namespace flow;

namespace {

using SummedNumbers = IndexedSet<int, std::int64_t>;

std::vector<int> all(SummedNumbers const& set) {
    std::vector<int> found;
    for (auto i = set.begin(); i != set.end(); ++i)
        found.push_back(*i);
    return found;
}

} // namespace

TEST_CASE("IndexedSet: sums and indexes") {
    IndexedSet<std::string, int> files;
    files.insert("b", 20);
    files.insert("a", 10);
    CHECK(files.sumTo(files.find("b")) == 10);
    CHECK(files.sumTo(files.end()) == 30);
    CHECK(*files.index(0) == "a");
    CHECK(*files.index(10) == "b");
    CHECK(*files.index(29) == "b");
    CHECK(files.index(30) == files.end());
    CHECK(files.addMetric("a", 5) == 15);
    CHECK(files.addMetric("c", 1) == 1);
    CHECK(files.sumRange(std::string("a"), std::string("c")) == 35);
    CHECK(files.getMetric(files.find("a")) == 15);
    files.insert("a", 1);
    CHECK(files.getMetric(files.find("a")) == 1);
    files.insert("a", 7, false);
    CHECK(files.getMetric(files.find("a")) == 1);
    CHECK(files.find(std::string_view("c")) != files.end()); // a key of another type
}

TEST_CASE("IndexedSet: neighbours and bounds") {
    SummedNumbers set;
    CHECK(set.empty());
    CHECK(set.begin() == set.end());
    CHECK(set.lastItem() == set.end());
    CHECK(set.insert({{10, 1}, {30, 1}, {20, 1}, {10, 1}}) == 3);
    CHECK(all(set) == std::vector{10, 20, 30});
    CHECK(*set.lower_bound(20) == 20);
    CHECK(*set.upper_bound(20) == 30);
    CHECK(set.upper_bound(30) == set.end());
    CHECK(*set.lastLessOrEqual(29) == 20);
    CHECK(set.lastLessOrEqual(9) == set.end());
    CHECK(*set.previous(set.end()) == 30);
    CHECK(set.previous(set.begin()) == set.end());
    CHECK(set.count(10) + set.count(11) == 1);
    set.erase(11); // is not there
    set.erase(set.end());
    set.erase(10, 30);
    CHECK(all(set) == std::vector{30});
    SummedNumbers moved = std::move(set);
    CHECK(set.empty());
    CHECK(all(moved) == std::vector{30});
    set = std::move(moved);
    CHECK(all(set) == std::vector{30});
    set.clear();
    CHECK(set.empty());
}

TEST_CASE("IndexedSet: elements that can only be moved") {
    IndexedSet<std::unique_ptr<int>, NoMetric> set;
    auto* one = set.insert(std::make_unique<int>(1), NoMetric())->get();
    CHECK(*one == 1);
    CHECK(!(set.begin() == set.end()));
}

TEST_CASE("IndexedSet: the same as a std::map, whatever is done to it") {
    DeterministicRandom random(7);
    SummedNumbers set;
    std::map<int, std::int64_t> model;
    for (int step = 0; step < 3000; ++step) {
        int key = random.randomInt(0, 200);
        std::int64_t metric = random.randomInt(0, 10);
        switch (random.randomInt(0, 4)) {
        case 0:
            set.erase(key);
            model.erase(key);
            break;
        case 1:
            CHECK(set.addMetric(key, metric) == (model[key] += metric));
            break;
        case 2: {
            int end = key + random.randomInt(0, 5);
            set.erase(key, end);
            model.erase(model.lower_bound(key), model.lower_bound(end));
            break;
        }
        default:
            set.insert(key, metric);
            model[key] = metric;
        }
        if (step % 50 != 0)
            continue;
        std::int64_t sum = 0;
        auto i = set.begin();
        for (auto const& [k, m] : model) {
            REQUIRE(i != set.end());
            CHECK((*i == k && set.getMetric(i) == m && set.sumTo(i) == sum));
            if (m > 0)
                CHECK((set.index(sum) == i && set.index(sum + m - 1) == i));
            sum += m;
            ++i;
        }
        CHECK(i == set.end());
        CHECK(set.sumTo(set.end()) == sum);
    }
}
