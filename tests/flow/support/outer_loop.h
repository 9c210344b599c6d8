#pragma once
// A loop of another library, in its simplest form: poll(2).
//
//     RealLoop loop;
//     Future<int> answer = compute();
//     OuterLoop(loop).runUntil(answer);

#include "flow/loop/real_loop.h"

#include <doctest/doctest.h>

#include <poll.h>

namespace flow::test {

class OuterLoop {
public:
    explicit OuterLoop(RealLoop& loop) : loop_(loop) {}

    /// True if the descriptor is readable within so many milliseconds.
    bool isReadable(int milliseconds = 0) {
        pollfd polled{loop_.descriptor(), POLLIN, 0};
        int count;
        while ((count = ::poll(&polled, 1, milliseconds)) < 0) { // a signal
        }
        return count == 1;
    }
    template <class T>
    void runUntil(Future<T> const& future) {
        runUntil([&] { return future.isReady(); });
    }
    template <class Done>
        requires std::is_invocable_r_v<bool, Done&>
    void runUntil(Done done) {
        loop_.runReady();
        while (!done()) {
            REQUIRE(isReadable(20'000));
            ++calls;
            loop_.runReady();
        }
    }
    /// Calls runReady() until the loop rests. The loop must come to rest without time passing.
    void settle() {
        for (int i = 0; i < 1000; ++i) {
            loop_.runReady();
            if (!isReadable())
                return;
        }
        FAIL("the loop does not come to rest");
    }

    int calls = 0; // of runReady(), by runUntil()

private:
    RealLoop& loop_;
};

} // namespace flow::test
