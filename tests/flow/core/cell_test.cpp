#include "flow/core/cell.h"

#include "flow/core/detail/ending_watch.h"
#include "flow/core/future.h"
#include "flow/coro/coroutine.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/test_waiter.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace flow;
using namespace flow::detail;
using test::Balance;
using test::TestWaiter;

namespace {

/// A frame made by hand, parked at `input`; when it is woken it fails with the error that it finds, or succeeds.
struct Frame : Waiter {
    static inline std::vector<int> ended;
    static inline std::vector<Error> errors;
    int number;

    Frame(int n) : Waiter{resumeFrame, {nullptr}, {}, {}}, number(n) {}

    static Future<int> start(int number, Future<int> input, std::uint8_t flags = 0) {
        Cell* cell = newCell<int>(sizeof(Frame), 1, 1, static_cast<std::uint8_t>(Cell::kHasFrame | flags));
        auto* frame = ::new (cell->frame()) Frame(number);
        park(frame, std::move(input).release());
        return Future<int>::adopt(cell);
    }
    static void resumeFrame(Waiter* waiter) {
        auto* frame = static_cast<Frame*>(waiter);
        Cell* input = waiter->awaited.cell();
        waiter->awaited = {};
        Cell* cell = Cell::of(waiter);
        ended.push_back(frame->number);
        errors.push_back(input->error);
        std::uint8_t status = input->isError() ? Cell::kError : Cell::kValue;
        if (input->isError())
            cell->error = input->error;
        else
            constructValue<int>(cell, valueOf<int>(input) + 1);
        releaseFuture(input);
        Waiter* last = finishFrame(cell, status);
        if (last)
            FLOW_HAND_OVER(last);
    }
};

struct Recorded {
    Recorded() {
        Frame::ended.clear();
        Frame::errors.clear();
    }
};

struct CountedEndings final : EndingWatch {
    void failed(void const*, Error) noexcept override { ++count; }
    void cancelled(void const*) noexcept override { ++count; }
    int count = 0;
};

Future<Void> waitsUntil(Future<Void> until) {
    co_await until;
}

} // namespace

TEST_CASE("cell: layout") {
    static_assert(offsetof(Waiter, resume) == 0 && offsetof(Waiter, destroy) == 8);
    static_assert(sizeof(Awaited) == sizeof(void*));
    Balance balance;
    Cell* cell = newCell<int>(100, 1, 0);
    CHECK(reinterpret_cast<std::uintptr_t>(cell) % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(cell->frame()) % 16 == 0);
    CHECK(Cell::of(cell->frame()) == cell);
    CHECK(reinterpret_cast<char*>(&valueOf<int>(cell)) == cell->valueAddress());
    CHECK(static_cast<char*>(cell->valueAddress()) + 16 == reinterpret_cast<char*>(cell));
    CHECK(cell->sizeClass == memory::sizeClassOf(16 + sizeof(Cell) + 100));
    Waiter waiter{};
    CHECK(Waiter::of(&waiter.link) == &waiter);
    releaseFuture(cell);
}

TEST_CASE("cell: the kinds of what is awaited") {
    Cell* cell = newCell<Void>(0, 1, 0);
    TimerSlot slot{};
    BranchGroup group{};
    for (Awaited awaited : {Awaited(), Awaited(cell), Awaited(&slot), Awaited(&group)})
        CHECK(awaited.isNothing() + awaited.isCell() + awaited.isTimer() + awaited.isGroup() == 1);
    CHECK(Awaited(cell).cell() == cell);
    CHECK(Awaited(&slot).timer() == &slot);
    CHECK(Awaited(&group).group() == &group);
    CHECK(Awaited(&group).isGroup());
    CHECK(Awaited(&slot).isTimer());
    releaseFuture(cell);
}

TEST_CASE("cell: values that need no room take none") {
    struct Empty {};
    struct EmptyWithDestructor {
        ~EmptyWithDestructor() {}
    };
    static_assert(!kStored<Void> && !kStored<Empty> && kStored<EmptyWithDestructor> && kStored<char>);
    static_assert(kPrefixBytes<char> == 16 && kPrefixBytes<EmptyWithDestructor> == 16);
    Balance balance;
    Future<Empty> future = Empty();
    (void)future.get();
    Future<EmptyWithDestructor> other = EmptyWithDestructor();
    CHECK(other.canGet());
}

TEST_CASE("cell: abandon releases a cell, a timer, and all branches of a group") {
    Balance balance;
    Promise<int> a, b;
    Waiter branches[2] = {};
    park(&branches[0], a.getFuture().release());
    park(&branches[1], b.getFuture().release());
    BranchGroup group{branches, 2, 0};
    Waiter whole{};
    whole.awaited = &group;
    CHECK(a.getFutureReferenceCount() == 1);
    abandon(&whole);
    CHECK(a.getFutureReferenceCount() == 0);
    CHECK(b.getFutureReferenceCount() == 0);
    CHECK(!branches[0].link.isLinked());
    CHECK(whole.awaited.isNothing());

    Waiter sleeper{};
    sleeper.awaited = ::new (FastAllocator<sizeof(TimerSlot)>::allocate()) TimerSlot{0, 0};
    abandon(&sleeper);
    CHECK(sleeper.awaited.isNothing());
    abandon(&sleeper); // nothing is left to do
}

TEST_CASE("cell: the cancelled cell is ready with actor_cancelled, on each thread its own, and is never freed") {
    Balance balance;
    Cell* here = cancelledCell();
    CHECK(here->isError());
    CHECK(here->error == actor_cancelled());
    CHECK(cancelledCell() == here);
    releaseFuture(here);
    releaseFuture(here);
    std::thread([here] {
        Cell* there = cancelledCell();
        CHECK(there != here);
        CHECK(there->error == actor_cancelled());
        releaseFuture(there);
    }).join();
}

TEST_CASE("cell: a chain of frames completes, fails and is cancelled in constant stack") {
    Balance balance;
    constexpr int kLength = 300000;
    for (int how = 0; how < 3; ++how) {
        Recorded recorded;
        Promise<int> promise;
        Future<int> last = promise.getFuture();
        for (int i = 0; i < kLength; ++i)
            last = Frame::start(i, std::move(last));
        if (how == 0)
            promise.send(0);
        else if (how == 1)
            promise.sendError(io_error());
        else
            last = Future<int>();
        CHECK(Frame::ended.size() == kLength);
        CHECK(Frame::ended.front() == 0); // also for a cancel: the awaited computation ends before its waiter
        CHECK(Frame::ended.back() == kLength - 1);
        if (how == 0)
            CHECK(last.get() == kLength);
        else if (how == 1)
            CHECK(last.getError() == io_error());
        else
            CHECK(promise.getFutureReferenceCount() == 0);
    }
}

TEST_CASE("cell: cancel resumes the frame once, and leaves what others await") {
    Balance balance;
    Recorded recorded;
    Promise<int> promise;
    Future<int> shared = Frame::start(1, promise.getFuture());
    Future<int> only = Frame::start(2, shared);
    Future<int> watched = only;
    only.cancel();
    only.cancel();
    CHECK(Frame::ended == std::vector{2});
    CHECK(Frame::errors == std::vector{actor_cancelled()});
    CHECK(watched.getError() == actor_cancelled());
    CHECK(!shared.isReady());
    promise.send(5);
    CHECK(shared.get() == 6);
    shared.cancel(); // too late
    CHECK(shared.get() == 6);
}

TEST_CASE("cell: an uncancellable frame runs on without futures") {
    Balance balance;
    Recorded recorded;
    Promise<int> promise;
    {
        Future<int> future = Frame::start(1, promise.getFuture(), Cell::kUncancellable);
        future.cancel();
        CHECK(!future.isReady());
    }
    CHECK(Frame::ended.empty());
    promise.send(1);
    CHECK(Frame::ended == std::vector{1});
    CHECK(Frame::errors == std::vector{Error()});
}

TEST_CASE("ending watch: one that is removed leaves the others") {
    CountedEndings first, second, third;
    for (CountedEndings* each : {&first, &second, &third})
        addEndingWatch(*each);
    (void)waitsUntil(Never()); // cancelled
    CHECK((first.count > 0 && first.count == second.count && first.count == third.count));
    int before = third.count;
    removeEndingWatch(third);
    Promise<Void> promise;
    Future<Void> failing = waitsUntil(promise.getFuture());
    promise.sendError(timed_out());
    CHECK(failing.isError());
    CHECK((first.count > before && first.count == second.count && third.count == before));
    before = first.count;
    removeEndingWatch(first);
    (void)waitsUntil(Never());
    CHECK((second.count > before && first.count == before));
    before = second.count;
    removeEndingWatch(second);
    (void)waitsUntil(Never());
    CHECK(second.count == before);
}
