#include "flow/core/future.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <any>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace flow;
using namespace flow::detail;
using test::Balance;
using test::Counted;

namespace {

struct Base {
    virtual ~Base() = default;
};
struct Derived : Base {};

struct ThrowsOnCopy {
    int value = 0;
    explicit ThrowsOnCopy(int v) : value(v) {
        if (v < 0)
            throw std::runtime_error("negative");
    }
    ThrowsOnCopy(ThrowsOnCopy const& other) : value(other.value) {
        if (value == 13)
            throw std::runtime_error("unlucky");
    }
    ~ThrowsOnCopy() {}
};

template <std::size_t Size, bool HasDestructor>
struct Sized {
    std::array<unsigned char, Size> bytes;
    explicit Sized(unsigned char first) {
        for (unsigned char& byte : bytes)
            byte = first++;
    }
    ~Sized()
        requires HasDestructor
    {
        ++Counted::destroyed;
    }
    ~Sized() = default;
    bool isIntact(unsigned char first) const {
        for (unsigned char byte : bytes)
            if (byte != first++)
                return false;
        return true;
    }
};

/// Passes one through a cell; false if it does not arrive whole, or is not destroyed exactly once. Hundreds of these
/// are compiled: hence no CHECK inside.
template <std::size_t Size, bool HasDestructor>
bool arrives() {
    using Value = Sized<Size, HasDestructor>;
    constexpr auto first = static_cast<unsigned char>(Size);
    Cell* cell = newCell<Value>(0, 2, 0);
    constructValue<Value>(cell, first);
    complete(cell, Cell::kValue);
    Counted::destroyed = 0;
    bool whole = valueOf<Value>(cell).isIntact(first) && cell->valueAddress() == &valueOf<Value>(cell) &&
                 reinterpret_cast<std::uintptr_t>(cell) % 16 == 0;
    releaseFuture(cell);
    whole = whole && Counted::destroyed == 0;
    releaseFuture(cell);
    return whole && Counted::destroyed == (HasDestructor ? 1 : 0);
}

using Arrives = bool (*)();

template <bool HasDestructor, std::size_t... Sizes>
std::array<Arrives, sizeof...(Sizes)> makeSizes(std::index_sequence<Sizes...>) {
    return {arrives<Sizes + 1, HasDestructor>...};
}

struct alignas(16) Wide {
    double parts[2] = {1, 2};
};

} // namespace

TEST_CASE("future: a value may be made of something else, as far as that is implicit") {
    auto text = []() -> Future<std::string> { return "made of a literal"; };
    CHECK(text().get() == "made of a literal");
    Future<std::optional<int>> maybe = 3;
    CHECK(maybe.get() == 3);
    Future<std::unique_ptr<Base>> pointer = std::make_unique<Derived>();
    CHECK(pointer.get() != nullptr);
    static_assert(!std::is_constructible_v<Future<std::string>, int>);
    static_assert(!std::is_convertible_v<int, Future<std::vector<int>>>); // explicit
    static_assert(!std::is_convertible_v<Future<int>, Future<std::any>>);
    CHECK(Future<std::optional<int>>(timed_out()).isError());
    CHECK(!Future<std::any>(Never()).isReady());
}

TEST_CASE("future: ready with a value") {
    Balance balance;
    Future<int> future = 7;
    CHECK(future.isValid());
    CHECK(future.isReady());
    CHECK(future.canGet());
    CHECK(!future.isError());
    CHECK(future.get() == 7);
    CHECK_DIES((void)future.getError(), "getError() on a Future without an error");
    Future<std::string> text = std::string("moved in");
    CHECK(text.get() == "moved in");
    Future<Void> done = Void();
    CHECK(done.get() == Void());
    Future<std::unique_ptr<int>> owner = std::make_unique<int>(3);
    CHECK(*owner.get() == 3);
}

TEST_CASE("future: ready with an error") {
    Balance balance;
    Future<std::string> future = timed_out().asInjectedFault();
    CHECK(future.isReady());
    CHECK(future.isError());
    CHECK(!future.canGet());
    CHECK(future.getError() == timed_out().asInjectedFault());
    try {
        (void)future.get();
        FAIL("no error was thrown");
    } catch (Error const& error) {
        CHECK(error == timed_out().asInjectedFault());
    }
    CHECK_DIES(Future<int> failed{Error()}, "was not set");
}

TEST_CASE("promise: send({}) sends a value, also of a class") {
    Promise<Void> nothing;
    Promise<std::string> text;
    Promise<int> number;
    nothing.send({});
    text.send({});
    number.send({});
    CHECK(nothing.getFuture().canGet());
    CHECK(text.getFuture().get().empty());
    CHECK(number.getFuture().get() == 0);
}

TEST_CASE("future: Never is never ready") {
    Balance balance;
    Future<int> future = Never();
    CHECK(future.isValid());
    CHECK(!future.isReady());
    CHECK(!future.isError());
    CHECK(!future.canGet());
    future.cancel();
    CHECK(!future.isReady());
    CHECK_DIES((void)future.get(), "not ready");
    CHECK_DIES((void)future.getError(), "without an error");
}

TEST_CASE("future: an invalid one ends the program") {
    Future<int> invalid;
    CHECK(!invalid.isValid());
    const char* message = "the Future is invalid";
    CHECK_DIES((void)invalid.isReady(), message);
    CHECK_DIES((void)invalid.isError(), message);
    CHECK_DIES((void)invalid.canGet(), message);
    CHECK_DIES((void)invalid.get(), message);
    CHECK_DIES((void)invalid.getError(), message);
    invalid.cancel(); // does nothing, as in the actor language
    Future<int> source = 1;
    Future<int> target = std::move(source);
    CHECK(!source.isValid()); // NOLINT: that is the test
    CHECK_DIES((void)source.get(), message);
    Future<int> copy = source;
    CHECK(!copy.isValid());
    source = target;
    CHECK(source.get() == 1);
}

TEST_CASE("future: copies, moves and assignments to itself") {
    Balance balance;
    Promise<int> promise;
    Future<int> a = promise.getFuture();
    CHECK(promise.getFutureReferenceCount() == 1);
    Future<int> b = a;
    Future<int> c;
    c = b;
    CHECK(promise.getFutureReferenceCount() == 3);
    Future<int> d = std::move(b);
    CHECK(promise.getFutureReferenceCount() == 3);
    Future<int>& self = d;
    d = self;
    CHECK(promise.getFutureReferenceCount() == 3);
    d = std::move(self);
    CHECK(d.isValid());
    CHECK(promise.getFutureReferenceCount() == 3);
    c = std::move(d);
    CHECK(promise.getFutureReferenceCount() == 2);
    c = Future<int>();
    CHECK(promise.getFutureReferenceCount() == 1);
    promise.send(4);
    CHECK(a.get() == 4);
}

TEST_CASE("future: the value is built once and destroyed once") {
    Balance balance;
    test::Log log;
    {
        Future<test::Tracer> future = test::Tracer(log, "a");
        CHECK(log == test::Log{"make a", "move a", "destroy moved"});
        log.clear();
        Future<test::Tracer> copy = future;
        future = Future<test::Tracer>();
        CHECK(log.empty());
        CHECK(copy.get().name() == "a");
    }
    CHECK(log == test::Log{"destroy a"});
}

TEST_CASE("future: the value lives as long as the promise") {
    test::Log log;
    {
        Promise<test::Tracer> promise;
        promise.send(test::Tracer(log, "a"));
        log.clear();
        CHECK(promise.getFuture().get().name() == "a");
        CHECK(log.empty());
    }
    CHECK(log == test::Log{"destroy a"});
}

TEST_CASE("future: values of all sizes up to 200, and large ones") {
    Balance balance;
    for (Arrives each : makeSizes<false>(std::make_index_sequence<200>()))
        CHECK(each());
    for (Arrives each : makeSizes<true>(std::make_index_sequence<200>()))
        CHECK(each());
    CHECK(arrives<4096, true>());
    CHECK(arrives<100000, false>());
    CHECK(arrives<16 * 65536 - 16 - 8, true>()); // the largest
    Future<Wide> wide = Wide();
    CHECK(reinterpret_cast<std::uintptr_t>(&wide.get()) % 16 == 0);
    static_assert(kPrefixBytes<Void> == 0 && kPrefixBytes<int> == 16 && kPrefixBytes<std::string> == 48);
}

TEST_CASE("future: a Future<Void> is one cell, a Future<int> 16 bytes more") {
    for (int extra : {0, 16}) {
        memory::SizeClass sizeClass = memory::sizeClassOf(sizeof(Cell) + static_cast<std::size_t>(extra));
        std::uint64_t before = memory::statistics(sizeClass).allocated;
        std::uint64_t total = memory::totalStatistics().allocated;
        if (extra)
            (void)Future<int>{1};
        else
            (void)Future<Void>{Void()};
        CHECK(memory::statistics(sizeClass).allocated == before + 1);
        CHECK(memory::totalStatistics().allocated == total + 1);
    }
}

TEST_CASE("future: a value with a throwing constructor leaves nothing behind") {
    Balance balance;
    ThrowsOnCopy unlucky(13);
    CHECK_THROWS_AS((void)Future<ThrowsOnCopy>{unlucky}, std::runtime_error);
    Promise<ThrowsOnCopy> promise;
    Future<ThrowsOnCopy> future = promise.getFuture();
    CHECK_THROWS_AS(promise.send(unlucky), std::runtime_error);
    CHECK_THROWS_AS(promise.send(-1), std::runtime_error);
    CHECK(promise.canBeSet());
    CHECK(!future.isReady());
    promise.send(2); // it may try again
    CHECK(future.get().value == 2);
}

TEST_CASE("future: use from other threads aborts in checked builds" * doctest::skip(!FLOW_CHECKED)) {
    Promise<int> promise;
    Future<int> future = promise.getFuture();
    auto onThread = [](auto body) { std::thread(body).join(); };
    const char* message = "on a thread other than the one that made it";
    CHECK_DIES(onThread([&] { (void)future.isReady(); }), message);
    CHECK_DIES(onThread([&] { future.cancel(); }), message);
    CHECK_DIES(onThread([&] { Future<int> copy = future; }), message);
    CHECK_DIES(onThread([&] { Future<int> taken = std::move(future); }), message);
    CHECK_DIES(onThread([&] { promise.send(1); }), message);
    CHECK_DIES(onThread([&] { promise.sendError(io_error()); }), message);
    CHECK_DIES(onThread([&] { (void)promise.getFuture(); }), message);
    CHECK_DIES(onThread([&] { Promise<int> taken = std::move(promise); }), message);
    CHECK_DIES(onThread([&] { new Promise<int>(promise); }), message); // the copy alone
}

TEST_CASE("future: of an Error, which is then a value") {
    Future<Error> value = io_error();
    CHECK(value.get() == io_error());
    Future<Error> failed = Future<Error>::failed(io_error());
    CHECK(failed.isError());
    CHECK(Future<int>::failed(io_error()).getError() == io_error());
    Promise<Error> promise;
    promise.send(timed_out());
    CHECK(promise.getFuture().get() == timed_out());
}

TEST_CASE("future: StrictFuture is not made from values") {
    StrictFuture<int> strict = Future<int>(3);
    CHECK(strict.get() == 3);
    CHECK_FALSE(StrictFuture<int>(Never()).isReady());
    static_assert(!std::is_constructible_v<StrictFuture<int>, int>);
    static_assert(!std::is_constructible_v<StrictFuture<int>, Error>);
}
