#pragma once
// The state of a console, and its answers. All functions are called on the console thread, which has a loop.

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/threads/on_loop.h"
#include "flow/wait/delay.h"
#include "net/detail/console_request.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma push_macro("loop") // a keyword of actors, which programs of Flow leave defined
#undef loop

namespace flow::console {

inline constexpr double kPatience = 1; // the time limit for a loop to begin with an answer

struct Console {
    flow::Loop& loop; // the shown loop; it outlives `serving`
    std::string name;
    bool isFull; // false: only /metrics
    std::vector<std::string> hosts = {};
    std::atomic<bool> isRecording{false};
    Future<Void> serving = {}; // belongs to the console thread
};
using Shared = std::shared_ptr<Console>;
using Answer = ConsoleAnswer;

/// Answers /metrics. Asks all loops of the process at the same time. A loop that does not answer has fewer figures.
Future<Answer> metricsAnswer();
/// Answers /metrics.json. If the loop does not answer, the page has the figures that another thread can read.
Future<Answer> figuresAnswer(Shared console);
/// Answers /trace, /profile and /samples. `query` is empty or "seconds=S"; for a profile "&allocations=1" may follow.
Future<Answer> recordedAnswer(Shared console, std::string_view path, std::string_view query);
/// Returns 503 with a sentence about the step that keeps the loop busy.
Answer busyAnswer(Console const& console);

/// Calls make() on the console's loop, and returns its Answer. If the loop does not start it, returns busyAnswer().
template <class Make>
Future<Answer> answerOfLoop(Shared console, Make make) {
    enum State { Waiting, Begun, GivenUp };
    auto state = std::make_shared<std::atomic<int>>(Waiting);
    auto call = [state, make = std::move(make)]() mutable -> decltype(make()) {
        if (state->exchange(Begun) == GivenUp)
            return Answer{};
        return make();
    };
    Future<Answer> asked = onLoop(console->loop, std::move(call), TaskPriority::Max);
    auto first = co_await race(asked, delay(kPatience));
    if (first.index() == 0)
        co_return std::get<0>(std::move(first));
    if (state->exchange(GivenUp) == Waiting) {
        Answer busy = busyAnswer(*console);
        co_return busy;
    }
    Answer answer = co_await asked;
    co_return answer;
}

} // namespace flow::console

#pragma pop_macro("loop")
