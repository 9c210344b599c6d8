// Members and macros that programs of Flow's main branch use.
#include "flow/compat/flow/BenchMain.h"
#include "flow/compat/flow/IndexedSet.h"
#include "flow/compat/flow/UnitTest.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#if __has_include("benchmark/benchmark.h")
int benchmark::internal::InitializeStreams() { // its header calls it; the tests do not link the library
    return 0;
}
#endif

namespace {

struct Counted : ReferenceCounted<Counted> {
    int number = 0;
};
struct CountedByAll : ThreadSafeReferenceCounted<CountedByAll> {};

struct Row {
    std::string name;
    std::string part(int from) const { return name.substr(static_cast<std::size_t>(from)); }
    std::string part(int from, std::string const& more) const { return part(from) + more; }
    int size() const { return static_cast<int>(name.size()); }
};

bool hasText(ErrorOr<std::string> result) {
    return result.present();
}

int firstPower(int above) {
    int value = 1;
    loop {
        value *= 2;
        if (value > above)
            return value;
    }
}

} // namespace

TEST_CASE("compat members: references") {
    Error::init();
    Reference<Counted> one(new Counted{});
    Reference<CountedByAll> other(new CountedByAll{});
    CHECK(one->number == 0);
    one->addref();
    CHECK_FALSE(one->delref_no_destroy());
    other->addref();
    CHECK_FALSE(other->delref_no_destroy());
    Counted* last = one.extractPtr();
    CHECK(last->delref_no_destroy());
    delete last;
}

TEST_CASE("compat members: map() of a member function, and ErrorOr of what becomes its value") {
    Optional<StringRef> text("abcdef"_sr);
    CHECK(text.map<StringRef>(&StringRef::substr, 2).get() == "cdef"_sr);
    CHECK(text.map<StringRef>(&StringRef::substr, 2, 3).get() == "cde"_sr);
    Optional<Row> row(Row{"abc"});
    CHECK(row.map<std::string>(&Row::part, 1).get() == "bc");
    CHECK(row.map(&Row::size).get() == 3);
    CHECK(row.map(&Row::name).get() == "abc");
    CHECK_FALSE(Optional<Row>().map<std::string>(&Row::part, 1).present());
    CHECK(ErrorOr<StringRef>("abc"_sr).map<StringRef>(&StringRef::substr, 1).get() == "bc"_sr);
    CHECK(ErrorOr<Row>(io_error()).map(&Row::size).isError(error_code_io_error));

    CHECK(hasText("text"));
    CHECK_FALSE(hasText(io_error()));
    CHECK(ErrorOr<double>(1).get() == 1);
    CHECK(ErrorOr<Error>(io_error()).present());
    ErrorOr<std::string> same = ErrorOr<std::string>("same");
    CHECK(ErrorOr<std::string>(same).get() == "same");
    CHECK(ErrorOr<StringRef>(ErrorOr<std::string>(io_error())).isError());
}

TEST_CASE("compat members: texts") {
    StringRef text = "abc"_sr;
    CHECK(text.back() == 'c');
    text.popBack();
    CHECK(text == "ab");
    CHECK("ab" == text);
    CHECK(text != "abc");
    CHECK("a\0b"_sr == "a\0b");
    CHECK(Standalone<StringRef>("ab"_sr) == "ab");
    CHECK(__FILE__sr.endsWith("members_test.cpp"_sr));
}

TEST_CASE("compat members: promises, streams and sets") {
    Promise<int> promise;
    CHECK_FALSE(promise.isError());
    Future<int> future = promise.getFuture();
    promise.sendError(io_error());
    CHECK(promise.isError());
    CHECK(future.isError());
    PromiseStream<int> stream;
    FutureStream<int> reader = stream.getFuture();
    CHECK(reader.getFutureReferenceCount() == 1);
    IndexedSet<int, NoMetric> set;
    set.insert(3, NoMetric());
    CHECK(*set.cbegin() == 3);
    CHECK(++set.cbegin() == set.cend());
}

TEST_CASE("compat members: assertions that compare as C++ does, `loop`, and a race as a Future of a variant") {
    ASSERT_EQ(0xFFFFFFFF, (std::int32_t)-1);
    ASSERT_GT(0xFFFFFFFFu, 1);
    CHECK_THROWS_AS(ASSERT_LT((std::int32_t)-1, 1u), Error);
    CHECK(firstPower(100) == 128);
    Future<std::variant<int, double>> first = race(Future<int>(7), Future<double>(1.5));
    CHECK(std::get<0>(first.get()) == 7);
}

TEST_CASE("compat members: waitOrError() of a stream") {
    PromiseStream<int> stream;
    Promise<Void> failure;
    Future<int> next = waitOrError(stream.getFuture(), failure.getFuture());
    stream.send(7);
    CHECK(next.get() == 7);
    next = waitOrError(stream.getFuture(), failure.getFuture());
    failure.sendError(io_error());
    CHECK(next.getError() == io_error());
    stream.send(8);
    CHECK(stream.getFuture().pop() == 8);
    flow::test::cancelEverywhere("waitOrError",
                                 [](flow::test::Inputs& in) { return waitOrError(in.numbers(), in.event(0)); });
}
