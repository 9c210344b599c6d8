#include "flow/sim/detail/linearization.h"

#include "tests/flow/sim/register_model.h"
#include "tests/flow/support/sanitizers.h"

#include <doctest/doctest.h>

#include <set>

using flow::DeterministicRandom;
using flow::Linearization;
using flow::linearize;
using flow::test::History;
using flow::test::Value;
using Answer = Linearization::Answer;

namespace {

/// Of the random histories: a part of them where each takes long.
constexpr int kPart = MILLRACE_UNDER_ASAN || MILLRACE_UNDER_TSAN ? 8 : 1;
constexpr std::uint64_t kEnough = 1'000'000;

Linearization search(std::vector<History::Operation> const& operations, std::size_t end = History::kNever,
                     std::uint64_t budget = kEnough) {
    std::vector<History::Operation const*> pointers;
    for (History::Operation const& operation : operations)
        pointers.push_back(&operation);
    return linearize(pointers, end, budget);
}

/// Results that may be right or wrong. Small numbers of values make accidents frequent.
History::Operation randomOperation(DeterministicRandom& random, int values, double unknown) {
    auto value = [&] {
        int number = random.randomInt(0, values + 1);
        return number == 0 ? Value() : Value(std::to_string(number));
    };
    History::Operation operation{.kind = History::Kind::get, .client = 0, .key = "a", .value = value()};
    int kind = random.randomInt(0, 10);
    if (kind < 3) {
        operation.kind = operation.value.present() ? History::Kind::put : History::Kind::remove;
    } else if (kind < 6) {
        operation.kind = History::Kind::compareAndSet;
        operation.expected = value();
    }
    operation.outcome = random.random01() < unknown ? History::Outcome::unknown : History::Outcome::ok;
    if (operation.outcome == History::Outcome::ok)
        operation.succeeded = operation.kind == History::Kind::compareAndSet && random.coinflip();
    return operation;
}

/// Any order of the events: a number of operations at once, the others one by one.
std::vector<History::Operation> randomOperations(DeterministicRandom& random, int count) {
    int values = random.randomInt(1, 4), atOnce = random.randomInt(1, count + 1);
    double unknown = random.randomChoice(std::vector<double>{0, 0.2, 0.6});
    std::vector<History::Operation> operations;
    std::vector<std::size_t> running;
    std::size_t events = 0;
    while (operations.size() < static_cast<std::size_t>(count) || !running.empty()) {
        bool canBegin =
            operations.size() < static_cast<std::size_t>(count) && running.size() < static_cast<std::size_t>(atOnce);
        if (canBegin && (running.empty() || random.coinflip())) {
            operations.push_back(randomOperation(random, values, unknown));
            operations.back().invoked = events++;
            if (operations.back().outcome == History::Outcome::ok)
                running.push_back(operations.size() - 1);
        } else {
            random.randomShuffle(running);
            operations[running.back()].returned = events++;
            running.pop_back();
        }
    }
    return operations;
}

/// The order of an answer is one: it has no operation twice, and all that returned if the answer is that one exists.
void checkOrder(std::vector<History::Operation> const& operations, Linearization const& found) {
    std::set<std::size_t> taken(found.order.begin(), found.order.end());
    CHECK(taken.size() == found.order.size());
    std::size_t missing = 0;
    for (std::size_t i = 0; i < operations.size(); ++i)
        missing += operations[i].outcome == History::Outcome::ok && !taken.contains(i);
    CHECK((missing == 0) == (found.answer == Answer::exists));
    CHECK(flow::test::isOrder(operations, found.order));
}

/// Whether an order of `length` of the operations exists, none of which waits for one that is left out.
bool hasLonger(std::vector<History::Operation> const& operations, std::size_t length) {
    for (unsigned chosen = 0; chosen < 1u << operations.size(); ++chosen) {
        auto some = operations;
        std::size_t done = 0, firstLeft = History::kNever;
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (some[i].outcome != History::Outcome::ok)
                continue;
            if (chosen >> i & 1)
                ++done;
            else
                firstLeft = std::min(firstLeft, some[i].returned), some[i].outcome = History::Outcome::failed;
        }
        bool waits = std::any_of(some.begin(), some.end(), [&](History::Operation const& operation) {
            return operation.outcome == History::Outcome::ok && operation.invoked > firstLeft;
        });
        for (History::Operation& operation : some) {
            if (operation.outcome == History::Outcome::unknown && operation.invoked > firstLeft)
                operation.outcome = History::Outcome::failed;
        }
        if (done > length && !waits && flow::test::hasOrder(some))
            return true;
    }
    return false;
}

/// Makes one result wrong, or right by another way.
void corrupt(DeterministicRandom& random, std::vector<History::Operation>& operations, int values) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        History::Operation& operation =
            operations[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(operations.size())))];
        if (operation.outcome != History::Outcome::ok)
            continue;
        if (operation.kind == History::Kind::compareAndSet) {
            operation.succeeded = !operation.succeeded;
            return;
        }
        if (operation.kind == History::Kind::get) {
            Value before = operation.value;
            int value = random.randomInt(0, values + 1);
            operation.value = value == 0 ? Value() : Value(std::to_string(value));
            if (operation.value != before)
                return;
        }
    }
}

std::string describe(std::vector<History::Operation> const& operations) {
    std::string text;
    for (History::Operation const& operation : operations)
        text += operation.call() + " -> " + operation.result() + " from " + std::to_string(operation.invoked) + " to " +
                std::to_string(operation.returned) + "\n";
    return text;
}

} // namespace

TEST_CASE("linearization: random histories have the answer of all permutations") {
    DeterministicRandom random(1);
    int exist = 0, none = 0;
    for (int run = 0; run < 12000 / kPart; ++run) {
        auto operations = randomOperations(random, run % 12 == 0 ? 7 : random.randomInt(1, 7));
        CAPTURE(describe(operations));
        Linearization found = search(operations);
        bool exists = flow::test::hasOrder(operations);
        REQUIRE(found.answer == (exists ? Answer::exists : Answer::none));
        checkOrder(operations, found);
        ++(exists ? exist : none);
    }
    CHECK(exist > 3000 / kPart);
    CHECK(none > 3000 / kPart);
}

TEST_CASE("linearization: every beginning of a random history has the answer of all permutations") {
    DeterministicRandom random(2);
    int exist = 0, none = 0;
    for (int run = 0; run < 1000; ++run) {
        auto operations = randomOperations(random, 5);
        CAPTURE(describe(operations));
        for (std::size_t end = 0; end <= 10; ++end) {
            auto part = flow::test::beginning(operations, end);
            bool exists = flow::test::hasOrder(part);
            REQUIRE(search(operations, end).answer == (exists ? Answer::exists : Answer::none));
            ++(exists ? exist : none);
        }
    }
    CHECK(exist > 1000);
    CHECK(none > 1000);
}

TEST_CASE("linearization: no order is longer than the longest") {
    DeterministicRandom random(3);
    int none = 0;
    for (int run = 0; run < 1500; ++run) {
        auto operations = randomOperations(random, 5);
        CAPTURE(describe(operations));
        Linearization found = search(operations);
        if (found.answer == Answer::exists)
            continue;
        ++none;
        std::size_t length = 0;
        for (std::size_t index : found.order)
            length += operations[index].outcome == History::Outcome::ok;
        CHECK_FALSE(hasLonger(operations, length));
    }
    CHECK(none > 300);
}

TEST_CASE("linearization: what a register did has an order, and one wrong result has the answer of all permutations") {
    DeterministicRandom random(4);
    int exist = 0, none = 0;
    for (int run = 0; run < 4000; ++run) {
        flow::test::Shape shape{.operations = random.randomInt(2, 7), .clients = random.randomInt(1, 5), .values = 2};
        auto operations = flow::test::simulate(random, shape);
        CAPTURE(describe(operations));
        Linearization found = search(operations);
        REQUIRE(found.answer == Answer::exists);
        checkOrder(operations, found);
        corrupt(random, operations, 2);
        bool exists = flow::test::hasOrder(operations);
        found = search(operations);
        REQUIRE(found.answer == (exists ? Answer::exists : Answer::none));
        checkOrder(operations, found);
        ++(exists ? exist : none);
    }
    CHECK(exist > 500);
    CHECK(none > 1000);
}

TEST_CASE("linearization: long histories of a register have an order, and a value without a write has none") {
    DeterministicRandom random(5);
    for (int run = 0; run < 60; ++run) {
        flow::test::Shape shape{.operations = 600, .clients = 1 + run % 8, .values = run % 4};
        shape.unknown = shape.values == 0 ? 0.2 : 0.01; // few values make many ways to use an unknown write
        auto operations = flow::test::simulate(random, shape);
        Linearization found = search(operations);
        REQUIRE(found.answer == Answer::exists);
        checkOrder(operations, found);
        auto get = std::find_if(operations.begin() + 300, operations.end(), [](History::Operation const& operation) {
            return operation.kind == History::Kind::get && operation.outcome == History::Outcome::ok;
        });
        get->value = "never written";
        found = search(operations);
        CHECK(found.answer == Answer::none);
        checkOrder(operations, found);
        CHECK(search(operations, get->returned).answer == Answer::exists);
        CHECK(search(operations, get->returned + 1).answer == Answer::none);
    }
}

TEST_CASE("linearization: thirty writes of unknown outcome at once are little work") {
    DeterministicRandom random(6);
    for (bool distinct : {true, false}) {
        std::vector<History::Operation> operations;
        std::size_t events = 0;
        for (int i = 0; i < 30; ++i) {
            bool conditional = i % 3 == 2;
            operations.push_back({.kind = conditional ? History::Kind::compareAndSet : History::Kind::put,
                                  .client = i,
                                  .key = "a",
                                  .expected = conditional ? Value(std::to_string(distinct ? i - 1 : 0)) : Value(),
                                  .value = std::to_string(distinct ? i : i % 4),
                                  .invoked = events++});
        }
        auto read = [&](Value value) {
            operations.push_back({.kind = History::Kind::get,
                                  .client = 30,
                                  .key = "a",
                                  .value = value,
                                  .outcome = History::Outcome::ok,
                                  .invoked = events,
                                  .returned = events + 1});
            events += 2;
        };
        for (int i = 0; i < 3; ++i)
            read(std::to_string(i));
        Linearization found = search(operations);
        CHECK(found.answer == Answer::exists);
        checkOrder(operations, found);
        CHECK(found.steps < 1000);
        // Each took effect at most once: a value comes back no more often than it was written.
        for (int i = 0; i < 10; ++i) {
            read("0");
            read("1");
        }
        found = search(operations);
        CHECK(found.answer == Answer::none);
        CHECK(found.steps < 20000);
    }
}

TEST_CASE("linearization: the budget ends a search that is too long, with the order so far") {
    // Writes of different values at once, all of which are read at the end in an order that cannot be.
    std::vector<History::Operation> operations;
    constexpr int kWrites = 12;
    for (std::size_t i = 0; i < kWrites; ++i) {
        operations.push_back({.kind = History::Kind::put,
                              .client = static_cast<int>(i),
                              .key = "a",
                              .value = std::to_string(i),
                              .outcome = History::Outcome::ok,
                              .invoked = i,
                              .returned = kWrites + i});
    }
    for (std::size_t i = 0; i < kWrites; ++i) {
        operations.push_back({.kind = History::Kind::get,
                              .client = static_cast<int>(i),
                              .key = "a",
                              .value = std::to_string(i),
                              .outcome = History::Outcome::ok,
                              .invoked = 2 * kWrites + 2 * i,
                              .returned = 2 * kWrites + 2 * i + 1});
    }
    Linearization found = search(operations);
    CHECK(found.answer == Answer::none);
    CHECK(found.steps > 100'000);
    std::uint64_t steps = found.steps;
    CHECK(search(operations, History::kNever, steps).answer == Answer::none);
    found = search(operations, History::kNever, steps / 2);
    CHECK(found.answer == Answer::undecided);
    CHECK(found.steps >= steps / 2);
    CHECK(found.steps < steps / 2 + 1000);
    checkOrder(operations, found);
}
