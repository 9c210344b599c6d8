// race(), all(), some() and timeout() in actors, of futures, streams, operations, delays and callables; waits for tasks.
#include "flow/sim.h"
#include "trace.h"

#include "flow/sync/channel.h"
#include "flow/tasks/task.h"

#include "flow/actorcompiler.h"

ACTOR Future<Void> races(Channel<int>* channel, FutureStream<int> numbers, Future<int> slow) {
    state int round = 0;
    for (; round < 3; ++round) {
        RaceResult<int, int, Void> first = wait(race(channel->receive(), numbers, delay(1)));
        if (first.index() == 0)
            say("item %d", std::get<0>(first));
        else if (first.index() == 1)
            say("number %d", std::get<1>(first));
        else
            say("late");
    }
    auto other = wait(race(slow, [&] { return channel->receive(); }));
    say("operand %d", int(other.index()));
    choose {
        when(auto either = wait(race(slow, delay(5)))) {
            say("either %d", int(either.index()));
        }
        when(wait(delay(2))) {
            say("neither");
        }
    }
    return Void();
}

ACTOR Future<Void> several(Channel<int>* channel, FutureStream<int> numbers) {
    state std::vector<Future<int>> futures;
    futures.push_back(Never());
    futures.push_back(3);
    futures.push_back(4);
    Winner<int> fastest = wait(race(futures));
    say("fastest %d %d", int(fastest.index()), fastest.value());
    std::vector<Winner<int>> one = wait(some(1, futures));
    say("one of %d", int(one[0].index()));
    auto both = wait(all(channel->receive(), numbers));
    say("both %d %d", std::get<0>(both), std::get<1>(both));
    Optional<int> nothing = wait(timeout(numbers, 1.0));
    say("nothing: %d", !nothing.present());
    try {
        int item = wait(timeoutError(channel->receive(), 1.0));
        say("item %d", item);
    } catch (Error& e) {
        say("%s", e.name());
    }
    return Void();
}

ACTOR Future<Void> feed(Channel<int>* channel, PromiseStream<int> numbers) {
    wait(delay(0.5));
    numbers.send(1);
    numbers.send(2);
    wait(channel->send(7));
    wait(delay(5));
    wait(channel->send(8));
    return Void();
}

Task<int> later(Context, int value) {
    co_await delay(1);
    co_return value;
}
Task<> later(Context) {
    co_await delay(1);
}

// A wait takes a task and a range of tasks, without start() around them.
ACTOR Future<Void> ofTasks() {
    state double begin = now();
    int one = wait(later(Environment(), 1));
    say("task %d after %g s", one, now() - begin);
    wait(later(Environment()));
    Task<int> named = later(Environment(), 2);
    int two = wait(std::move(named));
    say("task %d after %g s", two, now() - begin);
    choose {
        when(int three = wait(later(Environment(), 3))) {
            say("task %d", three);
        }
        when(wait(delay(2))) {
            say("late");
        }
    }
    std::vector<Task<int>> several;
    several.push_back(later(Environment(), 4));
    std::vector<int> values = wait(all(std::move(several)));
    say("task %d after %g s", values[0], now() - begin);
    return Void();
}

int main() {
    SimLoop sim;
    Channel<int> channel(2);
    PromiseStream<int> numbers;
    Promise<int> slow;
    Future<Void> feeding = feed(&channel, numbers);
    sim.run(races(&channel, numbers.getFuture(), slow.getFuture()));
    say("left %d", int(channel.size()));
    numbers.send(9);
    Future<Void> sent = keep(channel.send(10));
    sim.run(several(&channel, numbers.getFuture()));
    say("left %d %d", int(channel.size()), int(numbers.getFuture().isReady()));
    sim.run(ofTasks());
    return 0;
}
