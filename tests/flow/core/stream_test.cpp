#include "flow/core/stream.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/test_waiter.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace flow;
using namespace flow::detail;
using test::Balance;
using test::Counted;
using test::TestWaiter;

namespace {

struct Unlucky {
    int value;
    explicit Unlucky(int v) : value(v) {
        if (v == 13)
            throw std::runtime_error("unlucky");
    }
};

} // namespace

TEST_CASE("stream: values come in order") {
    Balance balance;
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture();
    CHECK(out.isEmpty());
    CHECK(!in.isReady());
    for (int i = 0; i < 100; ++i)
        out.send(i);
    CHECK(!out.isEmpty());
    for (int i = 0; i < 100; ++i) {
        REQUIRE(in.isReady());
        CHECK(!in.isError());
        CHECK(in.pop() == i);
    }
    CHECK(!in.isReady());
    CHECK(out.isEmpty());
    out.send(100);
    CHECK(in.pop() == 100);
}

TEST_CASE("stream: the end comes after what is queued, and stays") {
    Balance balance;
    PromiseStream<std::string> out;
    FutureStream<std::string> in = out.getFuture();
    out.send(std::string("a"));
    out.send(std::string("b"));
    out.sendError(end_of_stream().asInjectedFault());
    CHECK(!in.isError());
    CHECK_DIES((void)in.getError(), "has not ended, or still holds values");
    CHECK(in.pop() == "a");
    CHECK(!in.isError());
    CHECK(in.pop() == "b");
    CHECK(in.isReady());
    CHECK(in.isError());
    CHECK(in.getError() == end_of_stream().asInjectedFault());
    for (int i = 0; i < 2; ++i) {
        try {
            (void)in.pop();
            FAIL("no error was thrown");
        } catch (Error const& error) {
            CHECK(error == end_of_stream().asInjectedFault());
        }
    }
}

TEST_CASE("stream: what is sent after the end is ignored") {
    Balance balance;
    int live = Counted::live;
    for (bool queued : {false, true}) {
        PromiseStream<Counted> out;
        FutureStream<Counted> in = out.getFuture();
        if (queued)
            out.send(1);
        out.sendError(io_error());
        out.send(2);
        out.sendError(timed_out());
        CHECK(Counted::live == live + queued);
        if (queued)
            CHECK(in.pop().value == 1);
        CHECK(in.getError() == io_error());
        out.send(3);
        CHECK(in.getError() == io_error());
    }
    CHECK(Counted::live == live);
}

TEST_CASE("stream: values are kept until they are read") {
    Balance balance;
    PromiseStream<int> out;
    out.send(1);
    {
        FutureStream<int> first = out.getFuture();
        CHECK(first.pop() == 1);
        out.send(2);
    }
    out.send(3);
    out.sendError(end_of_stream());
    FutureStream<int> second = out.getFuture();
    CHECK(second.pop() == 2);
    CHECK(second.pop() == 3);
    CHECK(second.getError() == end_of_stream());
}

TEST_CASE("stream: dropping the last sender breaks it after what is queued") {
    Balance balance;
    for (bool queued : {false, true}) {
        std::optional<PromiseStream<int>> out(std::in_place);
        FutureStream<int> in = out->getFuture();
        {
            PromiseStream<int> copy = *out;
            if (queued)
                copy.send(1);
        }
        CHECK(in.isReady() == queued);
        out.reset();
        if (queued)
            CHECK(in.pop() == 1);
        CHECK(in.getError() == broken_promise());
    }
    std::optional<PromiseStream<int>> ended(std::in_place);
    FutureStream<int> in = ended->getFuture();
    ended->sendError(end_of_stream());
    ended.reset();
    CHECK(in.getError() == end_of_stream());
}

TEST_CASE("stream: elements are freed with the stream, whichever side goes last") {
    Balance balance;
    int live = Counted::live;
    for (bool readerFirst : {false, true}) {
        std::optional<PromiseStream<Counted>> out(std::in_place);
        std::optional<FutureStream<Counted>> in = out->getFuture();
        for (int i = 0; i < 20; ++i)
            out->send(i);
        CHECK(in->pop().value == 0);
        CHECK(Counted::live == live + 19);
        if (readerFirst) {
            in.reset();
            CHECK(Counted::live == live + 19);
            out.reset();
        } else {
            out.reset();
            CHECK(Counted::live == live + 19);
            in.reset();
        }
        CHECK(Counted::live == live);
    }
}

TEST_CASE("stream: a reader that waits runs before send returns") {
    Balance balance;
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture();
    std::vector<int> got;
    TestWaiter reader([&](Cell*) {
        while (in.isReady())
            got.push_back(in.pop());
        reader.wait(in);
    });
    reader.wait(in);
    for (int i = 0; i < 3; ++i) {
        out.send(i);
        CHECK(got.size() == static_cast<std::size_t>(i) + 1);
    }
    CHECK(got == std::vector{0, 1, 2});
    CHECK(!in.isReady());
}

TEST_CASE("stream: a reader that waits is woken by the end and by the last sender's going") {
    Balance balance;
    for (bool dropped : {false, true}) {
        std::optional<PromiseStream<int>> out(std::in_place);
        FutureStream<int> in = out->getFuture();
        TestWaiter reader([&](Cell* cell) {
            CHECK(cell->isError());
            CHECK(in.getError() == (dropped ? broken_promise() : end_of_stream()));
        });
        reader.wait(in);
        if (!dropped)
            out->sendError(end_of_stream());
        out.reset();
        CHECK(reader.woken() == 1);
    }
}

TEST_CASE("stream: a reader that takes nothing loses nothing") {
    Balance balance;
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture();
    TestWaiter reader;
    reader.wait(in);
    out.send(1);
    out.send(2);
    CHECK(reader.woken() == 1);
    CHECK(in.pop() == 1);
    CHECK(in.pop() == 2);
    TestWaiter leaving;
    leaving.wait(in);
    abandon(&leaving);
    out.send(3);
    CHECK(leaving.woken() == 0);
    CHECK(in.pop() == 3);
}

TEST_CASE("stream: a reader may send, end and drop everything") {
    Balance balance;
    std::optional<PromiseStream<int>> out(std::in_place);
    std::optional<FutureStream<int>> in = out->getFuture();
    std::vector<int> got;
    TestWaiter reader([&](Cell*) {
        got.push_back(in->pop());
        out->send(got.back() + 1);
        got.push_back(in->pop());
        out->send(99);
        out->sendError(end_of_stream());
        out.reset();
        in.reset();
    });
    reader.wait(*in);
    out->send(1);
    CHECK(got == std::vector{1, 2});
    CHECK(reader.woken() == 1);

    out.emplace();
    in = out->getFuture();
    TestWaiter last([&](Cell*) { in.reset(); });
    last.wait(*in);
    out.reset();
    CHECK(last.woken() == 1);
}

TEST_CASE("stream: move-only elements, and an element with a throwing constructor") {
    Balance balance;
    PromiseStream<std::unique_ptr<int>> out;
    FutureStream<std::unique_ptr<int>> in = out.getFuture();
    out.send(std::make_unique<int>(4));
    CHECK(*in.pop() == 4);
    out.send(std::make_unique<int>(5)); // stays

    PromiseStream<Unlucky> unlucky;
    FutureStream<Unlucky> numbers = unlucky.getFuture();
    CHECK_THROWS_AS(unlucky.send(13), std::runtime_error);
    CHECK(!numbers.isReady());
    CHECK(unlucky.isEmpty());
    unlucky.send(12);
    CHECK_THROWS_AS(unlucky.send(13), std::runtime_error);
    CHECK(numbers.pop().value == 12);
    CHECK(!numbers.isReady());
}

TEST_CASE("stream: copies, moves and assignments to itself") {
    Balance balance;
    PromiseStream<int> out;
    FutureStream<int> a = out.getFuture(), b = a, c;
    CHECK(!c.isValid());
    c = std::move(b);
    CHECK(!b.isValid()); // NOLINT: that is the test
    FutureStream<int>& self = c;
    c = self;
    c = std::move(self);
    PromiseStream<int> other;
    other = out;
    PromiseStream<int>& same = other;
    other = same;
    other = std::move(same);
    out = PromiseStream<int>();
    CHECK(!a.isReady());
    other.send(1);
    CHECK(c.pop() == 1); // one queue, whichever handle
    CHECK(!a.isReady());
}

TEST_CASE("stream: an lvalue is copied once, an rvalue never, whether a reader waits or not") {
    Balance balance;
    test::Log log;
    PromiseStream<test::Tracer> out;
    FutureStream<test::Tracer> in = out.getFuture();
    auto copies = [&] {
        auto count = std::count(log.begin(), log.end(), "copy a");
        log.clear();
        return count;
    };
    test::Tracer a(log, "a");
    TestWaiter reader([&](Cell*) { CHECK(in.pop().name() == "a"); });
    SUBCASE("queued") {
        out.send(a);
        CHECK(in.pop().name() == "a");
        CHECK(copies() == 1);
        out.send(std::move(a));
        CHECK(in.pop().name() == "a");
        CHECK(copies() == 0);
    }
    SUBCASE("lvalue to a reader that waits") {
        reader.wait(in);
        out.send(a);
        CHECK(copies() == 1);
        CHECK(a.name() == "a");
    }
    SUBCASE("rvalue to a reader that waits") {
        reader.wait(in);
        out.send(std::move(a));
        CHECK(copies() == 0);
    }
    CHECK_FALSE(in.isReady());
}

TEST_CASE("stream: misuse ends the program") {
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture(), invalid;
    CHECK_DIES((void)in.pop(), "nothing in it");
    CHECK_DIES((void)in.getError(), "has not ended");
    CHECK_DIES(out.sendError(Error()), "was not set");
    PromiseStream<int> zero;
    FutureStream<int> end = zero.getFuture();
    zero.sendError(success());
    CHECK(end.isError());
    CHECK(end.getError() == success());
    CHECK_DIES((void)invalid.isReady(), "the FutureStream is invalid");
    CHECK_DIES((void)invalid.pop(), "the FutureStream is invalid");
    PromiseStream<int> taken = std::move(out);
    CHECK(!out.isValid()); // NOLINT: that is the test
    CHECK_DIES(out.send(1), "the PromiseStream is invalid");
    CHECK_DIES((void)out.getFuture(), "the PromiseStream is invalid");
}

TEST_CASE("stream: use from other threads aborts in checked builds" * doctest::skip(!FLOW_CHECKED)) {
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture();
    const char* message = "on a thread other than the one that made it";
    CHECK_DIES(std::thread([&] { out.send(1); }).join(), message);
    CHECK_DIES(std::thread([&] { out.sendError(io_error()); }).join(), message);
    CHECK_DIES(std::thread([&] { (void)in.isReady(); }).join(), message);
    CHECK_DIES(std::thread([&] { new PromiseStream<int>(out); }).join(), message); // the copy alone
}

TEST_CASE("stream: onEmpty is ready when the last element has been taken") {
    Balance balance;
    PromiseStream<int> out;
    FutureStream<int> in = out.getFuture();
    CHECK(out.onEmpty().isReady());
    out.send(1);
    out.send(2);
    Future<Void> empty = out.onEmpty(), same = out.onEmpty();
    CHECK(in.pop() == 1);
    CHECK_FALSE(empty.isReady());
    TestWaiter waiter([&](Cell*) { out.send(3); }); // the element taken is not lost by what this does
    waiter.wait(empty);
    CHECK(in.pop() == 2);
    CHECK(empty.canGet());
    CHECK(same.canGet());
    CHECK(in.pop() == 3);
    out.send(4);
    empty = out.onEmpty();
    Future<Void> dropped = out.onEmpty();
    dropped = Future<Void>();
    in = FutureStream<int>();
    out = PromiseStream<int>();
    CHECK(empty.getError() == broken_promise());
}

TEST_CASE("stream: handles of one stream are equal") {
    PromiseStream<int> a, b;
    CHECK(a == PromiseStream<int>(a));
    CHECK_FALSE(a == b);
    CHECK(a.getFuture() == a.getFuture());
    CHECK_FALSE(a.getFuture() == b.getFuture());
}

TEST_CASE("stream: getReply sends a request, and gives the future of its promise") {
    struct Request {
        int number = 1;
        Promise<int> reply;
    };
    PromiseStream<Request> requests;
    FutureStream<Request> in = requests.getFuture();
    Future<int> first = requests.getReply(), second = requests.getReply(Request{2, {}});
    Request one = in.pop(), two = in.pop();
    CHECK((one.number == 1 && two.number == 2));
    two.reply.send(20);
    CHECK((second.get() == 20 && !first.isReady()));
    one = Request();
    CHECK(first.getError() == broken_promise());
    PromiseStream<Promise<int>> promises;
    FutureStream<Promise<int>> replies = promises.getFuture();
    first = promises.getReply();
    replies.pop().send(7);
    CHECK(first.get() == 7);
}
