#include "flow/wait/detail/composed_operation.h"

#include "flow/sim/sim_loop.h"
#include "flow/wait/source.h"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace flow;

namespace {

struct Basket {
    struct Take {
        using Result = int;
        Basket* basket;
        bool isReady() const { return !basket->numbers.empty(); }
        void park(WaiterNode& waiter) { basket->source.park(waiter, *this); }
        int take() const {
            int number = basket->numbers.front();
            basket->numbers.erase(basket->numbers.begin());
            if (number < 0)
                throw timed_out();
            return number;
        }
    };
    struct Check {
        using Result = Void;
        Basket* basket;
        bool isReady() const { return basket->isInOrder; }
        void park(WaiterNode&) { throw client_invalid_operation(); }
        Void take() const { return Void(); }
    };
    Take take() { return {this}; }
    Check check() { return {this}; }
    void put(int number) {
        numbers.push_back(number);
        source.wakeInTurn();
    }

    std::vector<int> numbers;
    bool isInOrder = true;
    Source<Take> source;
};

/// Adds up so many numbers.
class Add : public ComposedOperation {
public:
    void start(Basket& from, int count, Completion<int> end) {
        from_ = &from;
        left_ = count;
        sum_ = 0;
        end_ = end;
        waitFor<&Add::onNumber>(from.take());
    }

private:
    void onNumber(Error error, int number) {
        sum_ += number;
        if (error.isValid() || --left_ == 0)
            return end_(error, sum_);
        waitFor<&Add::onNumber>(from_->take());
    }

    Basket* from_ = nullptr;
    int left_ = 0, sum_ = 0;
    Completion<int> end_;
};

/// Adds up two numbers, and two more, and then has the basket checked: an operation of which another one is a part.
class AddTwice : public ComposedOperation {
public:
    explicit AddTwice(Basket& basket) : basket_(basket) {}
    void start() { add_.start(basket_, 2, Completion<int>::to<&AddTwice::onFirst>(*this)); }
    void cancel() { add_.cancel(); }

    int first = 0, second = 0;
    Error error;
    bool hasEnded = false;

private:
    void onFirst(Error e, int sum) {
        first = sum;
        if (e.isValid())
            return end(e);
        add_.start(basket_, 2, Completion<int>::to<&AddTwice::onSecond>(*this));
    }
    void onSecond(Error e, int sum) {
        second = sum;
        if (e.isValid())
            return end(e);
        waitFor<&AddTwice::end>(basket_.check());
    }
    void end(Error e) {
        error = e;
        hasEnded = true;
    }

    Basket& basket_;
    Add add_;
};

} // namespace

TEST_CASE("step: a composed operation continues from one step to the next") {
    SimLoop loop;
    Basket basket;
    AddTwice adding(basket);
    adding.start();
    for (int i = 1; i <= 3; ++i)
        basket.put(i);
    loop.run();
    CHECK(adding.first == 3);
    CHECK(!adding.hasEnded);
    basket.put(4);
    loop.run();
    CHECK(adding.second == 7);
    CHECK(adding.hasEnded);
    CHECK(!adding.error.isValid());
}

TEST_CASE("step: what is ready at once is taken in a turn, never inside waitFor()") {
    SimLoop loop;
    Basket basket;
    for (int i = 1; i <= 4; ++i)
        basket.put(i);
    AddTwice adding(basket);
    adding.start();
    CHECK(adding.first == 0);
    loop.run();
    CHECK(adding.hasEnded);
}

TEST_CASE("step: several at once take each number once, the oldest first") {
    SimLoop loop;
    Basket basket;
    std::vector<std::unique_ptr<AddTwice>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<AddTwice>(basket));
        all.back()->start();
    }
    for (int i = 1; i <= 12; ++i)
        basket.put(i);
    loop.run();
    int sum = 0;
    for (auto& each : all) {
        CHECK(each->hasEnded);
        sum += each->first + each->second;
    }
    CHECK(sum == 78);
    CHECK(all[0]->first == 1 + 2);
}

TEST_CASE("step: of two that found the same thing ready, one waits on") {
    SimLoop loop;
    Basket basket;
    basket.put(1);
    AddTwice first(basket), second(basket);
    first.start();
    second.start();
    loop.run();
    CHECK(!first.hasEnded);
    for (int i = 2; i <= 8; ++i)
        basket.put(i);
    loop.run();
    CHECK(first.hasEnded);
    CHECK(second.hasEnded);
    CHECK(basket.numbers.empty());
}

TEST_CASE("step: an error ends it, wherever it comes from") {
    SimLoop loop;
    Basket basket;
    SUBCASE("what is taken is one") {
        AddTwice adding(basket);
        adding.start();
        basket.put(1);
        basket.put(-1);
        loop.run();
        CHECK(adding.error == timed_out());
        CHECK(adding.first == 1);
    }
    SUBCASE("the source fails those that wait") {
        AddTwice adding(basket);
        adding.start();
        basket.source.failAll(broken_promise());
        CHECK(adding.error == broken_promise());
    }
    SUBCASE("it cannot be waited for") {
        basket.isInOrder = false;
        AddTwice adding(basket);
        adding.start();
        for (int i = 1; i <= 4; ++i)
            basket.put(i);
        loop.run();
        CHECK(adding.error == client_invalid_operation());
    }
    SUBCASE("what was ready is not any more, and cannot be waited for") {
        AddTwice adding(basket);
        adding.start();
        for (int i = 1; i <= 3; ++i)
            basket.put(i);
        loop.run();
        basket.numbers.push_back(4);
        basket.source.wakeFirst();
        basket.isInOrder = false;
        loop.run();
        CHECK(adding.error == client_invalid_operation());
    }
}

TEST_CASE("step: one that is cancelled or destroyed has taken nothing") {
    SimLoop loop;
    Basket basket;
    AddTwice cancelled(basket);
    cancelled.start();
    {
        AddTwice destroyed(basket);
        destroyed.start();
        basket.put(1); // a turn is under way
    }
    cancelled.cancel();
    loop.run();
    CHECK(basket.numbers.size() == 1);
    CHECK(!basket.source.isWaitedFor());
    cancelled.start();
    basket.put(2);
    loop.run();
    CHECK(cancelled.first == 3);
}
