#include "flow/sim/linearizable.h"

#include "tests/flow/sim/register_model.h"

#include <doctest/doctest.h>

using flow::checkLinearizable;
using flow::DeterministicRandom;
using flow::test::History;
using flow::test::Value;
using Outcome = flow::LinearizabilityVerdict::Outcome;
using Put = History::Put;
using Get = History::Get;
using Remove = History::Remove;
using CompareAndSet = History::CompareAndSet;

namespace {

void write(History& history, int client, const char* value) {
    history.ok(history.invoke(client, "a", Put{value}));
}

void read(History& history, int client, Value value) {
    history.ok(history.invoke(client, "a", Get{}), value);
}

void swap(History& history, int client, Value expected, Value desired, bool succeeded) {
    history.ok(history.invoke(client, "a", CompareAndSet{expected, desired}), succeeded);
}

bool isLinearizable(History const& history) {
    auto verdict = checkLinearizable(history);
    CHECK(verdict.outcome != Outcome::undecided);
    CHECK(verdict.ok() == verdict.explanation.empty());
    CHECK(verdict.key == (verdict.ok() ? "" : "a"));
    return verdict.ok();
}

} // namespace

TEST_CASE("linearizable: operations one after the other") {
    History history;
    CHECK(isLinearizable(history));
    read(history, 1, {});
    write(history, 1, "1");
    read(history, 2, "1");
    swap(history, 1, "2", "3", false);
    swap(history, 1, "1", "2", true);
    read(history, 2, "2");
    history.ok(history.invoke(2, "a", Remove{}));
    read(history, 1, {});
    swap(history, 1, {}, "4", true);
    swap(history, 1, "4", {}, true);
    read(history, 1, {});
    CHECK(isLinearizable(history));
    SUBCASE("a stale read") {
        read(history, 1, "4");
    }
    SUBCASE("a value that was never written") {
        read(history, 1, "5");
    }
    SUBCASE("a compareAndSet that should have succeeded") {
        swap(history, 1, {}, "1", false);
    }
    SUBCASE("a compareAndSet that should have failed") {
        swap(history, 1, "1", "1", true);
    }
    SUBCASE("a write that was lost") {
        write(history, 1, "6");
        read(history, 1, {});
    }
    SUBCASE("a write that was done twice") {
        write(history, 1, "6");
        write(history, 1, "7");
        read(history, 1, "6");
    }
    CHECK_FALSE(isLinearizable(history));
}

TEST_CASE("linearizable: a read at the time of a write sees it or not, but not once more the old value") {
    History history;
    auto put = history.invoke(1, "a", Put{"1"});
    read(history, 2, {});
    read(history, 2, "1");
    SUBCASE("") {
        history.ok(put);
        CHECK(isLinearizable(history));
    }
    SUBCASE("") {
        read(history, 3, {});
        history.ok(put);
        CHECK_FALSE(isLinearizable(history));
    }
}

TEST_CASE("linearizable: a lost update") {
    History history;
    write(history, 1, "0");
    auto first = history.invoke(1, "a", CompareAndSet{"0", "1"});
    auto second = history.invoke(2, "a", CompareAndSet{"0", "2"});
    history.ok(first, true);
    SUBCASE("") {
        history.ok(second, false);
        CHECK(isLinearizable(history));
    }
    SUBCASE("") {
        history.ok(second, true);
        CHECK_FALSE(isLinearizable(history));
    }
}

TEST_CASE("linearizable: a write of unknown outcome") {
    History history;
    write(history, 1, "0");
    auto put = history.invoke(1, "a", Put{"1"});
    write(history, 2, "2");
    SUBCASE("never takes effect") {
        for (int i = 0; i < 3; ++i)
            read(history, 2, "2");
        CHECK(isLinearizable(history));
    }
    SUBCASE("takes effect late") {
        read(history, 2, "2");
        read(history, 3, "1");
        CHECK(isLinearizable(history));
        SUBCASE("and vanishes") {
            read(history, 3, "2");
            CHECK_FALSE(isLinearizable(history));
        }
        SUBCASE("and once more") {
            write(history, 2, "3");
            read(history, 3, "1");
            CHECK_FALSE(isLinearizable(history));
        }
    }
    SUBCASE("cannot take effect before it was requested") {
        History other;
        read(other, 2, "1");
        other.invoke(1, "a", Put{"1"});
        CHECK_FALSE(isLinearizable(other));
    }
    SUBCASE("that certainly failed is not seen") {
        history.failed(put);
        read(history, 2, "2");
        CHECK(isLinearizable(history));
        read(history, 2, "1");
        CHECK_FALSE(isLinearizable(history));
    }
    SUBCASE("may be a compareAndSet, or several in turn") {
        history.invoke(3, "a", CompareAndSet{"4", "5"});
        history.invoke(4, "a", CompareAndSet{"2", "4"});
        history.invoke(5, "a", Get{});
        read(history, 2, "5");
        CHECK(isLinearizable(history));
        read(history, 2, "4");
        CHECK_FALSE(isLinearizable(history));
    }
    SUBCASE("may be compareAndSets that lead nowhere but to each other") {
        history.invoke(3, "a", CompareAndSet{"4", "5"});
        history.invoke(4, "a", CompareAndSet{"5", "4"});
        read(history, 2, "2");
        CHECK(isLinearizable(history));
        read(history, 2, "5");
        CHECK_FALSE(isLinearizable(history));
    }
    SUBCASE("may be a remove") {
        history.invoke(3, "a", Remove{});
        read(history, 2, {});
        CHECK(isLinearizable(history));
        read(history, 2, "2");
        CHECK_FALSE(isLinearizable(history));
    }
}

TEST_CASE("linearizable: the explanation shows the shortest beginning that is wrong") {
    History history;
    write(history, 1, "1");
    auto put = history.invoke(1, "a", Put{"2"});
    history.ok(history.invoke(9, "b", Put{"elsewhere"}));
    read(history, 3, "2");
    auto failed = history.invoke(12, "a", Put{"nothing"});
    history.invoke(4, "a", CompareAndSet{"2", {}});
    history.failed(failed);
    read(history, 3, "1");
    history.ok(put);
    read(history, 3, "1");
    write(history, 3, "3");
    auto verdict = checkLinearizable(history);
    CHECK(verdict.outcome == Outcome::notLinearizable);
    CHECK(verdict.key == "a");
    CHECK(verdict.explanation == "key \"a\" is not linearizable: no order explains the first 5 of its 7 operations\n"
                                 "  client  operation                 result   from  to  place\n"
                                 "       1  put(\"1\")                  ok          0   1  1\n"
                                 "       1  put(\"2\")                  pending     2   -  2\n"
                                 "       3  get()                     \"2\"         5   6  3\n"
                                 "       4  compareAndSet(\"2\", none)  unknown     8   -  -\n"
                                 "       3  get()                     \"1\"        10  11  -\n"
                                 "the longest order has 3 operations and leaves \"2\"\n");
}

TEST_CASE("linearizable: a long table lacks early operations, except the writer of the value in question") {
    History history;
    write(history, 1, "old");
    for (int i = 0; i < 50; ++i)
        write(history, 1, std::to_string(i).c_str());
    read(history, 2, "old");
    std::string text = checkLinearizable(history).explanation;
    CAPTURE(text);
    CHECK(text.find("the first 52 of its 52 operations\n") != std::string::npos);
    CHECK(text.find("place\n  ... 27 earlier\n") != std::string::npos);
    CHECK(text.find("put(\"old\")  ok ") != std::string::npos);
    CHECK(text.find("put(\"26\")") == std::string::npos);
    CHECK(text.find("put(\"27\")") != std::string::npos);
    CHECK(text.find("get()       \"old\"") != std::string::npos);
    CHECK(text.find("the longest order has 51 operations and leaves \"49\"\n") != std::string::npos);
}

TEST_CASE("linearizable: the first wrong key is reported, before undecided ones") {
    History history;
    for (std::string key : {"d", "c", "b\n", "a"}) {
        auto put = history.invoke(1, key, Put{key});
        history.ok(history.invoke(2, key, Get{}), key == "c" || key == "b\n" ? "wrong" : key);
        history.ok(put);
    }
    auto verdict = checkLinearizable(history);
    CHECK(verdict.key == "b\n");
    CHECK(verdict.explanation.starts_with("key \"b\\x0a\" is not linearizable: no "));
    verdict = checkLinearizable(history, 0);
    CHECK(verdict.outcome == Outcome::undecided);
    CHECK_FALSE(verdict.ok());
    CHECK(verdict.key == "a");
    CHECK(verdict.explanation.starts_with("key \"a\" is undecided aft"));
}

TEST_CASE("linearizable: the shortest beginning is not linearizable, and without its last event it is") {
    DeterministicRandom random(1);
    int wrong = 0;
    for (int run = 0; run < 1500; ++run) {
        auto operations = flow::test::simulate(random, {.operations = 5, .clients = 3, .values = 2});
        auto get = std::find_if(operations.begin(), operations.end(), [](History::Operation const& operation) {
            return operation.kind == History::Kind::get && operation.outcome == History::Outcome::ok;
        });
        if (get == operations.end())
            continue;
        get->value = std::to_string(random.randomInt(0, 4));
        History history;
        flow::test::record(operations, history);
        auto verdict = checkLinearizable(history);
        REQUIRE(verdict.ok() == flow::test::hasOrder(operations));
        if (verdict.ok())
            continue;
        ++wrong;
        std::size_t end = 0;
        while (flow::test::hasOrder(flow::test::beginning(operations, end)))
            ++end;
        std::size_t begun = flow::test::beginning(operations, end).size();
        CHECK(verdict.explanation.find("the first " + std::to_string(begun) + " of its 5 operations") !=
              std::string::npos);
    }
    CHECK(wrong > 300);
}

TEST_CASE("linearizable: a large history is little work") {
    DeterministicRandom random(2);
    std::vector<History::Operation> all;
    constexpr std::size_t kKeys = 100;
    for (std::size_t key = 0; key < kKeys; ++key) {
        for (History::Operation& operation :
             flow::test::simulate(random, {.operations = 1000, .clients = 10, .values = 0, .unknown = 0.05})) {
            operation.key = "key" + std::to_string(key);
            operation.invoked = operation.invoked * kKeys + key;
            if (operation.returned != History::kNever)
                operation.returned = operation.returned * kKeys + key;
            all.push_back(std::move(operation));
        }
    }
    auto check = [&] {
        History history;
        flow::test::record(all, history);
        return checkLinearizable(history);
    };
    auto verdict = check();
    CHECK(verdict.ok());
    CHECK(verdict.steps > all.size());
    CHECK(verdict.steps < 20 * all.size());
    auto get = std::find_if(all.begin() + 77'700, all.end(), [](History::Operation const& operation) {
        return operation.kind == History::Kind::get && operation.outcome == History::Outcome::ok;
    });
    get->value = "never written";
    verdict = check();
    CHECK(verdict.outcome == Outcome::notLinearizable);
    CHECK(verdict.key == "key77");
    CHECK(verdict.steps < 20 * all.size());
    CHECK(check().explanation == verdict.explanation);
}
