#include "flow/loop/detail/remote_answer.h"

#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <thread>

using namespace flow;

namespace {

struct Square final : RemoteAnswer<Square, int>, FastAllocated<Square> {
    Square(int n, std::shared_ptr<int> h) : number(n), held(std::move(h)) {}
    void run() {
        if (number < 0)
            result.emplace(io_error());
        else
            result.emplace(number * number);
        answer();
    }
    int number;
    std::shared_ptr<int> held;
};

} // namespace

TEST_CASE("remote answer: a value or an error arrives after the call is destroyed") {
    RealLoop loop;
    auto held = std::make_shared<int>(0);
    for (int number : {7, -1}) {
        auto call = std::make_unique<Square>(number, held);
        Future<int> answer = call->future();
        std::thread thread([call = call.release()] { call->run(); });
        while (!answer.isReady())
            loop.run(delay(0.0001));
        CHECK(held.use_count() == 1);
        thread.join();
        if (number < 0)
            CHECK(answer.getError() == io_error());
        else
            CHECK(answer.get() == 49);
    }
}

TEST_CASE("remote answer: one without a waiter runs on, and is dropped wherever it is") {
    auto held = std::make_shared<int>(0);
    {
        RealLoop loop;
        int withdrawn = 0;
        auto call = std::make_unique<Square>(1, held);
        Square* there = call.get();
        Future<int> answer = call->future([&] { ++withdrawn; });
        call.release();
        answer.cancel();
        CHECK(withdrawn == 1);
        CHECK(held.use_count() == 2);
        there->run();
        CHECK(held.use_count() == 1);
        call = std::make_unique<Square>(1, held);
        there = call.get();
        answer = call->future([&] { ++withdrawn; });
        call.release();
        there->run(); // on its way
        answer = {};
        CHECK(withdrawn == 1);
        CHECK(held.use_count() == 2);
    }
    CHECK(held.use_count() == 1);
}

TEST_CASE("remote answer: what is answered by the loop of the caller is there at once") {
    RealLoop loop;
    struct Here final : RemoteAnswer<Here, int> {};
    auto* call = new Here;
    Future<int> answer = call->future();
    call->result.emplace(3);
    call->answerNow();
    CHECK(answer.get() == 3);
}
