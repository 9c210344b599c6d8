// The actors of channel_actors_test.cpp.

#include "tests/flow/sync/channel_actors.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h" // This must be the last #include.

namespace flow::test {

ACTOR Future<Void> sends(Channel<int>* channel, int count, bool closes) {
    state int value = 0;
    for (; value < count; ++value)
        wait(channel->send(value));
    if (closes)
        channel->close();
    return Void();
}

ACTOR Future<int> receives(Channel<int>* channel) {
    state int sum = 0;
    try {
        loop {
            int value = wait(channel->receive());
            sum += value;
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    return sum;
}

ACTOR Future<std::string> chooses(Channel<int>* first, Channel<int>* second, double seconds) {
    state std::string trace;
    state int i = 0;
    for (; i < 3; ++i) {
        choose {
            when(int value = wait(first->receive())) {
                trace += "a" + std::to_string(value);
            }
            when(int value = wait(second->receive())) {
                trace += "b" + std::to_string(value);
            }
            when(wait(delay(seconds))) {
                trace += ".";
            }
        }
    }
    return trace;
}

ACTOR Future<int> waitsForATask(int n) {
    int doubled = wait(start(doubleLater(Environment(), n)));
    return doubled;
}

} // namespace flow::test
