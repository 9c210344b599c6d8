// Primitives of a program's own, written with the public names only: one that ends once, and one that is waited for
// again.
#include "flow/combine/race.h"
#include "flow/core/operation.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/turn.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/handler_slot.h"
#include "flow/wait/member_wait.h"
#include "flow/wait/source.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace flow;

namespace {

struct Sum : Operation<Sum, int> {
    Sum(Future<int> a, Future<int> b) : second(std::move(b)) {
        if (a.isReady())
            (void)add(a);
        else
            step.waitFor(std::move(a));
    }
    WaiterNode* add(Future<int> ready) {
        if (ready.isError())
            return failed(ready.getError());
        total += ready.get();
        if (!second.isValid())
            return completed(total);
        Future<int> next = std::exchange(second, {});
        if (next.isReady())
            return add(next);
        step.waitFor(std::move(next));
        return nullptr;
    }

    int total = 0;
    Future<int> second;
    MemberWait step{*this, [](Sum& self) { return self.add(self.step.take<int>()); }};
};
Future<int> sumOf(Future<int> a, Future<int> b) {
    return start<Sum>(std::move(a), std::move(b));
}

class Batches {
public:
    using Items = std::vector<int>;
    struct Next {
        using Result = Items;
        Batches* batches;
        bool isReady() const { return batches->isDue(); }
        void park(WaiterNode& waiter) { batches->readers_.park(waiter, *this); }
        Items take() const { return batches->takeItems(); }
    };

    /// A batch is due when it has `most` items, or `seconds` after its first one.
    Batches(std::size_t most, double seconds) : most_(most), seconds_(seconds) {}
    Next next() { return {this}; }
    void add(int item) {
        items_.push_back(item);
        if (items_.size() == 1)
            limit_.askAt(now() + seconds_, TaskPriority::DefaultDelay);
        if (isDue())
            readers_.wakeInTurn();
    }

private:
    bool isDue() const { return items_.size() >= most_ || isLate_; }
    Items takeItems() {
        isLate_ = false;
        limit_.takeBack();
        return std::exchange(items_, {});
    }
    void onLimit() {
        isLate_ = true;
        readers_.wakeInTurn();
    }

    struct Limit : Turn {
        explicit Limit(Batches& b)
            : Turn([](Turn& self) { static_cast<Limit&>(self).batches.onLimit(); }), batches(b) {}
        Batches& batches;
    };

    std::size_t most_;
    double seconds_;
    bool isLate_ = false;
    Items items_;
    Limit limit_{*this};
    Source<Next> readers_;
};

Future<std::size_t> sizeOfNext(Batches& batches) {
    Batches::Items items = co_await batches.next();
    co_return items.size();
}

} // namespace

TEST_CASE("own primitive: an operation with state of its own") {
    test::Balance balance;
    Promise<int> a, b;
    Future<int> sum = sumOf(a.getFuture(), b.getFuture());
    a.send(3);
    CHECK(!sum.isReady());
    b.send(4);
    CHECK(sum.get() == 7);
    CHECK(sumOf(1, 2).get() == 3);
    CHECK(sumOf(1, io_error()).getError() == io_error());
    a = {};
    sum = sumOf(a.getFuture(), 1);
    sum = {};
    CHECK(a.getFutureReferenceCount() == 0);
}

TEST_CASE("own primitive: batches, in every way of waiting") {
    test::Balance balance;
    SimLoop loop;
    Batches batches(3, 2.0);
    Future<std::size_t> full = sizeOfNext(batches);
    for (int i = 0; i < 3; ++i)
        batches.add(i);
    CHECK(loop.run(full) == 3);
    Future<Batches::Items> late = keep(batches.next());
    batches.add(7);
    CHECK(loop.run(late) == Batches::Items{7});
    CHECK(loop.now() == 2.0);
    auto racing = [&]() -> Future<int> {
        auto first = co_await race(batches.next(), delay(1.0));
        co_return static_cast<int>(first.index());
    };
    Future<int> lost = racing();
    batches.add(8);
    CHECK(loop.run(lost) == 1); // and has taken nothing
    std::size_t size = 0;
    HandlerSlot slot;
    call(batches.next(), slot, [&size](Error, Batches::Items items) { size = items.size(); });
    loop.run(delay(5));
    CHECK(size == 1);
}
