#include "flow/core/result.h"

#include "flow/core/future.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::detail;
using test::Balance;
using test::Log;
using test::Tracer;

namespace {

struct Unmovable {
    int value;
    explicit Unmovable(int v) : value(v) {}
    Unmovable(Unmovable const& other) : value(other.value) { throw std::runtime_error("no copies"); }
    ~Unmovable() {}
};

template <class T>
Cell* cellWith(T value) {
    return Future<T>(std::move(value)).release();
}

} // namespace

TEST_CASE("result: refers to the value and keeps it alive, without copies") {
    Balance balance;
    Log log;
    {
        Future<Tracer> future = Tracer(log, "a");
        log.clear();
        Result<Tracer> result(std::move(future).release());
        CHECK(!future.isValid()); // NOLINT: that is the test
        CHECK(result.get().name() == "a");
        Result<Tracer> moved = std::move(result);
        CHECK(moved.get().name() == "a");
        CHECK(log.empty());
    }
    CHECK(log == Log{"destroy a"});
}

TEST_CASE("result: of Void, with and without a cell") {
    Balance balance;
    Result<Void> done(cellWith(Void()));
    CHECK(done.get() == Void());
    CHECK(Result<Void>(nullptr).get() == Void());
}

TEST_CASE("result: takeValue moves a value that nothing else holds") {
    Balance balance;
    Log log;
    Cell* cell = cellWith(Tracer(log, "a"));
    log.clear();
    {
        Tracer taken = takeValue<Tracer>(cell);
        CHECK(taken.name() == "a");
        CHECK(log == Log{"move a", "destroy moved"});
    }
}

TEST_CASE("result: takeValue copies what a future or a promise still shows") {
    Balance balance;
    Log log;
    Future<Tracer> future = Tracer(log, "a");
    log.clear();
    CHECK(takeValue<Tracer>(Future<Tracer>(future).release()).name() == "a");
    CHECK(log == Log{"copy a", "destroy a"});
    CHECK(future.get().name() == "a");

    Promise<Tracer> promise;
    promise.send(Tracer(log, "b"));
    log.clear();
    CHECK(takeValue<Tracer>(promise.getFuture().release()).name() == "b");
    CHECK(log == Log{"copy b", "destroy b"});
    CHECK(promise.getFuture().get().name() == "b");
}

TEST_CASE("result: takeValue of what cannot be copied, is Void, or throws") {
    Balance balance;
    CHECK(*takeValue<std::unique_ptr<int>>(cellWith(std::make_unique<int>(6))) == 6);
    CHECK(takeValue<Void>(nullptr) == Void());
    CHECK(takeValue<Void>(cellWith(Void())) == Void());
    Promise<Unmovable> promise;
    Future<Unmovable> future = promise.getFuture();
    promise.send(3);
    CHECK_THROWS_AS((void)takeValue<Unmovable>(Future<Unmovable>(future).release()), std::runtime_error);
    CHECK(promise.getFutureReferenceCount() == 1);
    CHECK(future.get().value == 3);
}

TEST_CASE("result: takeValue moves a container of what cannot be copied, which C++ takes for copyable") {
    Balance balance;
    std::vector<std::unique_ptr<int>> numbers;
    numbers.push_back(std::make_unique<int>(6));
    CHECK(*takeValue<decltype(numbers)>(cellWith(std::move(numbers))).at(0) == 6);
    std::map<int, std::vector<std::unique_ptr<int>>> byName;
    byName[7].push_back(std::make_unique<int>(8));
    CHECK(*takeValue<decltype(byName)>(cellWith(std::move(byName))).at(7).at(0) == 8);
}

TEST_CASE("result: takeLocal copies what is free to copy, moves what can only be moved, and refers to all else") {
    Balance balance;
    Log log;
    auto number = takeLocal<int>(cellWith(6));
    CHECK(++number.get() == 7);
    auto only = takeLocal<std::unique_ptr<int>>(cellWith(std::make_unique<int>(6)));
    CHECK(*std::unique_ptr<int>(std::move(only.get())) == 6);
    {
        auto referred = takeLocal<Tracer>(cellWith(Tracer(log, "a")));
        static_assert(std::is_const_v<std::remove_reference_t<decltype(referred.get())>>);
        log.clear();
        CHECK(referred.get().name() == "a");
        CHECK(log.empty());
    }
    CHECK(log == Log{"destroy a"});
}

TEST_CASE("result: takeError gives the error and the reference back") {
    Balance balance;
    Future<int> failed = io_error().asInjectedFault();
    CHECK(takeError(Future<int>(failed).release()) == io_error().asInjectedFault());
    CHECK(takeError(std::move(failed).release()) == io_error().asInjectedFault());
}
