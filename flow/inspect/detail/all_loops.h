#pragma once
// askAllLoops: calls a function on the thread of each RealLoop of the process, and collects the results.
//
//     for (LoopAnswer const& answer : askAllLoops([] { return dumpOf(Loop::current()); }, 1.0))
//         print(answer.thread, answer.isThere ? answer.text : "it runs a long step");
//
// The calling thread blocks until all loops have answered, at most for `patience` seconds; meanwhile it answers the
// requests of other threads. The result of its own loop, if it has one, is the first. Without requests, the cost is a
// lock of a mutex when a loop is made and when it ends.

#include "flow/loop/real_loop.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace flow {

struct LoopAnswer {
    int thread = 0;   // the thread id, as gettid() returns it
    std::string name; // the name of the loop, or of the thread if the loop has none
    bool isThere = false;
    std::string text;
};

/// Calls `ask` on several threads at the same time, possibly also after askAllLoops() has returned. If `ask` throws on
/// another thread, that thread's loop has no answer. An exception on the calling thread is passed on.
std::vector<LoopAnswer> askAllLoops(std::function<std::string()> ask, double patience);

namespace detail {
struct LoopAsk;
}

/// Calls `ask` like askAllLoops(), but only on other threads, and does not wait for the answers.
class LoopQuestions {
public:
    explicit LoopQuestions(std::function<std::string()> ask);

    /// Returns true if each loop has answered or ended.
    bool areOver() const;
    std::vector<LoopAnswer> answers() const;

private:
    std::vector<std::shared_ptr<detail::LoopAsk>> asks_;
};

namespace detail {
/// Registers `made`. Called for each new RealLoop.
void noteLoop(RealLoop& made);
} // namespace detail

} // namespace flow
