#pragma once
// askAllLoops: calls a function on the thread of each RealLoop of this process, and collects the results.
//
//     for (LoopAnswer const& answer : askAllLoops([] { return dumpOf(Loop::current()); }, 1.0))
//         print(answer.thread, answer.isThere ? answer.text : "it runs a long step");
//
// The calling thread blocks until all loops have answered, at most for `patience` seconds. If the calling thread has a
// loop, its result is the first. Several threads may ask at the same time: a thread that waits answers other requests
// meanwhile. Each loop locks a mutex once when it is made and once when it ends; otherwise askAllLoops() has no cost.

#include "flow/loop/real_loop.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace flow {

struct LoopAnswer {
    int thread = 0;   // the system's number of the thread
    std::string name; // the name of the thread
    bool isThere = false;
    std::string text;
};

/// Calls `ask` on several threads at the same time. A slow thread may call it even after askAllLoops() has returned. If
/// `ask` throws on another thread, that thread's loop has no answer. On the calling thread, the exception is passed on.
std::vector<LoopAnswer> askAllLoops(std::function<std::string()> ask, double patience);

namespace detail {
struct LoopAsk;
}

/// Calls `ask` like askAllLoops(), but only on other threads, and without a wait.
class LoopQuestions {
public:
    explicit LoopQuestions(std::function<std::string()> ask);

    /// True if each loop has answered or ended.
    bool areOver() const;
    /// Returns the answers so far.
    std::vector<LoopAnswer> answers() const;

private:
    std::vector<std::shared_ptr<detail::LoopAsk>> asks_;
};

namespace detail {
/// Registers `loop`. Called for each RealLoop when it is made.
void noteLoop(RealLoop& loop);
} // namespace detail

} // namespace flow
